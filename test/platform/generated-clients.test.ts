import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { type Service, startService } from '../support/service.ts'

const run = promisify(execFile)

/** The folder is below client/, where the generators and their compiler are installed. */
mkdirSync('client/generated', { recursive: true })
const folder = mkdtempSync('client/generated/test-')
const document = join(folder, 'openapi.json')

let service: Service
before(async () => {
  service = await startService()
  writeFileSync(document, (await service.anyone.get('/openapi.json')).text)
})
after(async () => {
  rmSync(folder, { recursive: true })
  await service.stop()
})

/** Compiles a generated client, with a program that uses it, as strictly as our own code. */
async function compile(name: string, program: string) {
  const place = join(folder, name)
  writeFileSync(join(place, 'use.ts'), program)
  writeFileSync(
    join(place, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        target: 'es2022',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom', 'dom.iterable'],
        types: [],
      },
      include: ['.'],
    }),
  )
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc')
  await run(process.execPath, [compiler, '-p', place]).catch(({ stdout }) => assert.fail(stdout))
}

describe('A client is generated from the document and compiles', () => {
  it('by openapi-typescript', async () => {
    mkdirSync(join(folder, 'types'))
    const generator = join('client', 'node_modules', 'openapi-typescript', 'bin', 'cli.js')
    await run(process.execPath, [generator, document, '-o', join(folder, 'types', 'api.ts')])
    await compile(
      'types',
      `import type { operations, paths } from './api.ts'
      type Deposit = operations['createDeposit']
      type Given = NonNullable<Deposit['requestBody']>['content']['application/json']
      export const deposit: Given = { accountID: 1, securityCode: 'GRA',
        transactionDate: '2026-06-30', amount: '1000.10' }
      type Refused = Deposit['responses'][409]['content']['application/json']
      export const code = ({ errors }: Refused) => errors[0]?.code === 'insufficient_holding'
      type Listed = paths['/Product']['get']['responses'][200]['content']['application/json']
      export const names = ({ data }: Listed): (string | null)[] => data.map(({ name }) => name)`,
    )
  })

  it('by hey-api', async () => {
    const config = { input: document, output: join(folder, 'sdk'), logs: { level: 'silent' } }
    const script = join(folder, 'generate.mjs')
    writeFileSync(
      script,
      `import { createClient } from '@hey-api/openapi-ts'
      await createClient(${JSON.stringify(config)})`,
    )
    await run(process.execPath, [script])
    await compile(
      'sdk',
      `import { createDeposit, downloadReportFile, listProducts } from './index.ts'
      export const calls = async () => {
        const { data } = await listProducts({ query: { PageSize: 10 } })
        await createDeposit({ body: { accountID: 1, securityCode: 'GRA',
          transactionDate: '2026-06-30', amount: '1000.10' } })
        await downloadReportFile({ query: { ReportID: 1 } })
        return data?.data[0]?.productID
      }`,
    )
  })
})
