import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import { secretFields } from '../../src/operations/secret-fields.ts'
import { createLog, errorForLog } from '../../src/platform/log.ts'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { type Node, startNode } from '../support/node.ts'
import { patient } from '../support/patience.ts'
import { until } from '../support/process.ts'
import { exchange } from '../support/raw.ts'

type Line = {
  time: string
  level: number
  msg: string
  requestID?: string
  method?: string
  route?: string
  status?: number
  milliseconds?: number
  err?: Record<string, unknown>
}

let connection: pg.ClientConfig
let node: Node
before(async () => {
  connection = await freshDatabase()
  node = await startNode(connection, { REGISTRY_LOG_LEVEL: 'trace' })
})
after(() => node.stop())

/** The lines of the log so far, without the greeting, which is not JSON. */
const lines = (): Line[] =>
  node
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

const linesOf = (requestID: string) =>
  until(`a line about ${requestID}`, () => {
    const found = lines().filter((line) => line.requestID === requestID)
    return found.some(({ msg }) => msg === 'answered') ? found : undefined
  })

const named = (id: string) => ({ 'X-Request-Id': id })

/** Tests the form of the log and its own masking; secrets.test.ts searches it for every secret. */
describe('The log', () => {
  it('has one line per request: what was asked for, how it ended, how long it took', async () => {
    await node.admin.get('/product?ExternalProductId=Vole', named('log-1'))
    const found = await linesOf('log-1')
    assert.equal(found.length, 1)
    const [{ time, level, milliseconds, ...line }] = found as [Line]
    assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.equal(level, 30)
    assert.equal(typeof milliseconds, 'number')
    assert.deepEqual(line, {
      requestID: 'log-1',
      method: 'GET',
      route: '/Product',
      status: 200,
      msg: 'answered',
    })
  })

  it('has one for what is refused, too, and for what is not HTTP', async () => {
    await node.anyone.get('/Product', named('log-2'))
    await node.anyone.get('/Nowhere', named('log-3'))
    const ended = async (id: string) => (await linesOf(id)).map(({ status }) => status)
    assert.deepEqual(await ended('log-2'), [401])
    assert.deepEqual(await ended('log-3'), [404])
    const answer = await exchange(node.url, 'NOT HTTP\r\n\r\n')
    const id = /X-Request-Id: (\S+)/.exec(answer)?.[1]
    await until('a line about it', () => lines().some(({ requestID }) => requestID === id))
  })

  it('tells of a fault of ours with its cause, under the id that the caller got', async () => {
    await rowsOf(connection, 'revoke insert on audit from registry_service')
    const reply = await node.admin.post('/Product', { name: 'Urchin' }, named('log-4'))
    await rowsOf(connection, 'grant insert on audit to registry_service')
    assert.equal(reply.status, 500)
    const fault = (await linesOf('log-4')).find(({ level }) => level >= 50)
    assert.match(String(fault?.err?.message), /permission denied for table audit/)
    assert.ok(fault?.err?.stack)
  })

  it('leaves out words of PostgreSQL that quote a value, and what it tells beside them', () => {
    const error = (code: string) =>
      Object.assign(new Error('invalid input syntax for type integer: "Sloth"'), {
        code,
        detail: 'Failing row contains (Sloth).',
        table: 'person',
      })
    for (const code of ['22P02', '22003', 'P0001']) {
      const shown = JSON.stringify(errorForLog(error(code)))
      assert.ok(!shown.includes('Sloth'), shown)
      assert.match(shown, /"table":"person"/)
    }
    const plain = errorForLog(Object.assign(new Error('permission denied'), { code: '42501' }))
    assert.equal(plain?.message, 'permission denied')
    assert.equal(errorForLog('Sloth'), undefined)
  })

  it('blots out what must not be seen, wherever somebody puts it', () => {
    const written: string[] = []
    const log = createLog('info', {
      secrets: secretFields,
      destination: { write: (line) => void written.push(line) },
    })
    const names =
      'password currentPassword authorization accessToken refreshToken tin iban ' +
      'taxationFileNumber taxationCountryTIN taxationCountryTIN2 taxationCountryTIN3 ' +
      'accountNumber chequeAccountNumber passportNumber driversLicenseNumber identificationValue ' +
      'connectionString'
    for (const name of names.split(' ')) {
      log.info({ [name]: 'Sloth' }, 'flat')
      log.info({ body: { [name]: 'Sloth' } }, 'nested')
      log.info({ request: { body: { [name]: 'Sloth' } } }, 'deep')
    }
    assert.equal(written.length, names.split(' ').length * 3)
    assert.ok(!written.join('').includes('Sloth'))
  })
})

it('A log whose disk is full loses lines, and neither stops the process nor keeps it', async () => {
  // Translated or not, as this file is.
  const module = new URL(`../../src/platform/log${import.meta.url.slice(-3)}`, import.meta.url).href
  const program = `
    import { createLog } from '${module}'
    const log = createLog('info')
    let times = 0
    setInterval(() => {
      log.info('a line '.repeat(1000))
      if (++times === 10) process.exit(7)
    }, 50)`
  const full = openSync('/dev/full', 'w')
  const args = ['--import', 'tsx', '--input-type=module', '-e', program]
  const child = spawn(process.execPath, args, { stdio: ['ignore', full, 'ignore'] })
  const limit = setTimeout(() => child.kill('SIGKILL'), patient(30_000))
  const [code] = await once(child, 'exit')
  clearTimeout(limit)
  closeSync(full)
  assert.equal(code, 7)
})
