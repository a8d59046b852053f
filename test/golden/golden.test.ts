import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { type Service, startService } from '../support/service.ts'
import { done, newWorld, type World } from '../support/world.ts'
import { dataModelPage } from './data-model.ts'
import { decimalFieldsFile } from './decimal-fields.ts'
import { errorCodesPage } from './error-codes.ts'
import { operations, type Request } from './operations.ts'
import { operationsPage } from './operations-page.ts'
import { schemaOf } from './schema.ts'
import { dedented, recordStatements } from './statements.ts'

/**
 * The golden files have what reviewers agreed to. `npm run golden` writes them anew: read the
 * difference before you commit it.
 */
const folder = join('test', 'golden')
const writing = process.env.WRITE_GOLDEN === 'true'
const hint = 'Meant? Then npm run golden writes it anew: commit that file too.'

function compare(name: string, text: string) {
  const path = join(folder, name)
  if (writing) return writeFileSync(path, text)
  assert.equal(text, readFileSync(path, 'utf8'), `${path} differs. ${hint}`)
}

describe('The golden files', () => {
  it('have the schema that the migrations make', async () => {
    compare('schema.sql', await schemaOf(await freshDatabase()))
  })

  it('and the pages made from it and from the sources are of this version', async () => {
    compare(join('..', '..', 'docs', 'data-model.md'), await dataModelPage(await freshDatabase()))
    compare(join('..', '..', 'docs', 'error-codes.md'), errorCodesPage())
  })

  it('and so are the page and the decimals made from what the service says', async () => {
    const service = await startService()
    try {
      const decimals = join('..', '..', 'console', 'shared', 'api', 'decimal-fields.ts')
      compare(decimals, await decimalFieldsFile(service))
      compare(join('..', '..', 'docs', 'operations.md'), await operationsPage(service))
    } finally {
      await service.stop()
    }
  })

  describe('have the statements of what is asked most', () => {
    let service: Service
    let world: World
    before(async () => {
      service = await startService()
      // A process remembers by its id which entity a short statement could not read. Entities of
      // other tests, whose databases are others, have the first ids.
      await rowsOf(service.connection, 'alter table biz_entity alter biz_entity_id restart 1000000')
      world = await newWorld(service, 'golden')
      if (!writing) return
      rmSync(join(folder, 'sql'), { recursive: true, force: true })
      mkdirSync(join(folder, 'sql'))
    })
    after(() => service.stop())

    for (const [name, request] of Object.entries(operations))
      it(name, async () => {
        const statements = await statementsOf(service, await request(world))
        assert.ok(statements.length > 0)
        compare(join('sql', `${name}.sql`), `${statements.join(';\n\n')};\n`)
      })

    it('and of nothing else', () => {
      const wanted = Object.keys(operations).map((name) => `${name}.sql`)
      assert.deepEqual(readdirSync(join(folder, 'sql')).sort(), wanted.sort())
    })
  })
})

/** SQL that is left out: sessions and approval rules are read twice a second, whatever is asked. */
const lookedUp = /\bfrom session s join app_user\b|\bfrom approval_rule where is_active\b/

async function statementsOf({ admin }: Service, { method, path, body }: Request) {
  const recording = recordStatements()
  try {
    done(await admin.call(method, path, body))
  } finally {
    recording.stop()
  }
  return recording.statements.filter((text) => !lookedUp.test(text)).map(dedented)
}
