import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import { findEmbedded } from '../../src/platform/embedded/postgres.ts'
import { type Client, clientOf } from '../support/client.ts'
import { emptyDatabase, rowsOf, urlOf } from '../support/database.ts'
import { readEvents } from '../support/events.ts'
import { filesBelow, getBytes } from '../support/files.ts'
import { entityOf } from '../support/investors.ts'
import { type Fund, newFund, poster } from '../support/ledger.ts'
import {
  cliCommand,
  type Program,
  runCli,
  start,
  startCommand,
  startRegistry,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { ended, order } from '../support/reports.ts'
import { adminPassword, type Service } from '../support/service.ts'

const credentials = {
  REGISTRY_ADMIN_USERNAME: 'admin',
  REGISTRY_ADMIN_PASSWORD: adminPassword,
}
const taxNumber = '876543210'

type Home = { dataDir: string; program: Program; service: Service }

/** Starts the service on a data folder, as an operator does. */
async function startOn(dataDir: string): Promise<Home> {
  const program = await startRegistry({ ...credentials, REGISTRY_DATA_DIR: dataDir })
  const anyone = clientOf(program.url)
  const admin = await anyone.signIn('admin', adminPassword)
  const connection = (await findEmbedded(dataDir))!.connection
  const service = { url: program.url, connection, anyone, admin } as Service
  return { dataDir, program, service }
}

async function stop({ program }: Home) {
  program.kill('SIGTERM')
  await program.exited
}

const newDocument = async (admin: Client, productID: number, bytes: Buffer) => {
  const { data } = await admin.post('/Document', { documentTypeID: 6, productID })
  const content = bytes.toString('base64')
  const reply = await admin.post('/Document/File', { documentID: data.documentID, content })
  assert.equal(reply.status, 200, reply.text)
  return data.documentID as number
}

/** The reads that show the whole register. */
const paths = (fund: Fund) => [
  `/Product`,
  `/Investment?ProductID=${fund.productID}`,
  `/Investment/Price?InvestmentID=${fund.investmentID}`,
  `/BizEntity?ProductID=${fund.productID}`,
  `/Person`,
  `/PaymentDetail`,
]

describe('A backup', { concurrency: false }, () => {
  let home: Home
  let fund: Fund
  let personID: number
  let reportID: number
  /** The id of a report whose record says that it waits for a worker. */
  let lateID: number
  let documents: { documentID: number; bytes: Buffer }[]
  const folder = join(temporaryFolder(), 'made', 'here')
  const acknowledged = new Map<number, object>()
  const earlier = new Set<number>()
  let deposit: (body: object, extra?: Record<string, string>) => ReturnType<Client['post']>

  before(async () => {
    home = await startOn(temporaryFolder())
    const { service } = home
    const { admin } = service
    fund = await newFund(service, { accounts: 5 })
    const post = poster(
      () => admin,
      () => ({ productID: fund.productID, investmentID: fund.investmentID }),
    )
    deposit = (body, extra) => post('Deposit', body, extra)
    const person = { firstName: 'Tess', lastName: 'Ax\\N\tTab', taxationFileNumber: taxNumber }
    const entity = entityOf(fund.productID, { bizEntityParties: [{ person }] })
    const { data } = await admin.post('/BizEntity', entity)
    personID = data[0].bizEntityParties[0].person.personID
    documents = []
    for (const size of [10, 100_000, 3_000_000]) {
      const bytes = randomBytes(size)
      documents.push({ bytes, documentID: await newDocument(admin, fund.productID, bytes) })
    }
    await deposit({ accountID: fund.accountID, amount: '12345678901.1234' })
    const report = { reportTypeID: 2, format: 'csv', productID: fund.productID, name: 'Holdings' }
    reportID = (await order(admin, report)).reportID
    lateID = (await order(admin, report)).reportID
    await rowsOf(
      service.connection,
      'update report set report_status_id = 1 where report_id = $1',
      [lateID],
    )
  })
  after(() => stop(home))

  it('is made while the service takes writes, and says what it holds', async () => {
    const { admin } = home.service
    let isOver = false
    const clients = fund.accounts.map(async ({ accountID }, i) => {
      while (!isOver) {
        const reply = await deposit(
          { accountID, amount: 1 + i },
          { 'Idempotency-Key': randomUUID() },
        )
        assert.equal(reply.status, 200, reply.text)
        acknowledged.set(reply.data[0].bizTransactionID, reply.data[0])
      }
    })
    const uploads = (async () => {
      while (!isOver) {
        const documentID = await newDocument(admin, fund.productID, randomBytes(50_000))
        assert.equal((await admin.delete(`/Document?DocumentID=${documentID}`)).status, 200)
      }
    })()
    await until('the load', () => acknowledged.size > 50)
    for (const id of acknowledged.keys()) earlier.add(id)
    const { code, output, errors } = await runCli(['backup', folder], {
      REGISTRY_DATA_DIR: home.dataDir,
    })
    isOver = true
    await Promise.all([...clients, uploads])
    assert.equal(code, 0, errors)
    assert.match(output, /^biz_transaction: \d+ rows$/m)
    assert.match(output, /^As of \S+Z: \d+ rows in \d+ tables \(\d+ bytes\), \d+ stored files/m)
    assert.match(output, /^Backed up to .*\.$/m)
    assert.match(output, /sealed with the key [0-9a-f]{16}, which is not in the backup: .*keys\//)
  })

  it('is for its owner only, and holds neither keys nor tax numbers', () => {
    const key = readFileSync(join(home.dataDir, 'keys', 'encryption-key'), 'utf8')
    const secret = readFileSync(join(home.dataDir, 'keys', 'jwt-secret'), 'utf8')
    assert.ok(filesBelow(folder).length > 20)
    for (const path of filesBelow(folder)) {
      assert.equal(statSync(path).mode & 0o777, 0o600, path)
      assert.equal(statSync(dirname(path)).mode & 0o777, 0o700, path)
      const bytes = readFileSync(path)
      for (const hidden of [key, secret, taxNumber]) assert.ok(!bytes.includes(hidden), path)
    }
  })

  it('is not restored over a live registry, and not without its key', async () => {
    const live = await runCli(['restore', folder], { REGISTRY_DATA_DIR: home.dataDir })
    assert.equal(live.code, 1)
    assert.match(live.errors, /The database is not empty: there are rows in .*Nothing was changed/)
    const dataDir = temporaryFolder()
    const without = await runCli(['restore', folder], { REGISTRY_DATA_DIR: dataDir })
    assert.equal(without.code, 1)
    assert.match(without.errors, /sealed with the encryption key [0-9a-f]{16}, which was not found/)
    const other = Buffer.alloc(32, 9).toString('base64')
    const wrong = await runCli(['restore', folder], {
      REGISTRY_DATA_DIR: dataDir,
      REGISTRY_ENCRYPTION_KEY: other,
    })
    assert.equal(wrong.code, 1)
    assert.match(wrong.errors, /sealed with the encryption key/)
    assert.deepEqual(readdirSync(dataDir), [], 'nothing was made')
  })

  it('finds its key among the previous ones, and says where all of them are', async () => {
    const to = temporaryFolder()
    cpSync(join(home.dataDir, 'keys/encryption-key'), `${to}/keys/previous-encryption-keys`)
    assert.equal((await runCli(['restore', folder], { REGISTRY_DATA_DIR: to })).code, 0)
    const { output } = await runCli(['backup', temporaryFolder()], { REGISTRY_DATA_DIR: to })
    assert.match(output, /keep a copy of .*previous-encryption-keys elsewhere/)
  })

  it('restored on a fresh folder is the register as it was, and goes on from there', async () => {
    const dataDir = temporaryFolder()
    mkdirSync(join(dataDir, 'keys'), { mode: 0o700 })
    cpSync(join(home.dataDir, 'keys/encryption-key'), join(dataDir, 'keys/encryption-key'))
    const { code, output, errors } = await runCli(['restore', folder], {
      REGISTRY_DATA_DIR: dataDir,
    })
    assert.equal(code, 0, errors + output)
    assert.match(output, /^The backup in .* is complete\.$/m)
    assert.match(output, /^\d+ checks, nothing found\.$/m)
    assert.match(output, /^Restored\.$/m)
    const restored = await startOn(dataDir)
    try {
      await sameReads(restored)
      await goesOn(restored)
    } finally {
      await stop(restored)
    }
  })

  async function sameReads({ service: { admin } }: Home) {
    const former = home.service.admin
    for (const path of paths(fund)) {
      const [then, now] = [await former.get(path), await admin.get(path)]
      assert.deepEqual(withoutBalances(now.data), withoutBalances(then.data), path)
    }
    const tess = (await admin.get(`/Person?PersonID=${personID}`)).data[0]
    assert.deepEqual(tess, (await former.get(`/Person?PersonID=${personID}`)).data[0])
    assert.deepEqual([tess.lastName, tess.taxationFileNumber], ['Ax\\N\tTab', '******210'])
    for (const { documentID, bytes } of documents) {
      const file = await getBytes(admin, `/Document/File?DocumentID=${documentID}`)
      assert.ok(file.bytes.equals(bytes))
    }
    const report = `/Report/File?ReportID=${reportID}`
    assert.deepEqual((await getBytes(admin, report)).bytes, (await getBytes(former, report)).bytes)
    const there = await transactionsOf(admin)
    for (const id of earlier) assert.ok(there.has(id), `${id} was acknowledged before the backup`)
    const then = await transactionsOf(former)
    for (const [id, record] of there) assert.deepEqual(record, then.get(id))
    assert.ok(there.size <= then.size)
  }

  /** Removes the balances, which change with postings after the backup. */
  const withoutBalances = (data: object) =>
    JSON.parse(
      JSON.stringify(data, (name, value) => (/^balances?$/.test(name) ? undefined : value)),
    )

  async function transactionsOf(admin: Client) {
    const found = new Map<number, object>()
    for (let page = 1; ; page++) {
      const query = `ProductID=${fund.productID}&PageSize=1000&PageNumber=${page}&ShowClosing=true`
      const { data } = await admin.get(`/BizTransaction?${query}`)
      for (const record of data) found.set(record.bizTransactionID, record)
      if (data.length < 1000) return found
    }
  }

  /**
   * Asserts that a restored service goes on: new records get unused ids, tax numbers can be
   * decrypted, reports are made, and the audit trail continues.
   */
  async function goesOn({ service: { admin, connection } }: Home) {
    const known = await transactionsOf(admin)
    const { productID, investmentID, accountID } = fund
    const body = { productID, investmentID, accountID, amount: 5, transactionDate: '2026-01-10' }
    const { data } = await admin.post('/BizTransaction/Deposit', body)
    assert.ok(data[0].bizTransactionID > Math.max(...known.keys()))
    const documentID = await newDocument(admin, productID, randomBytes(20))
    assert.ok(documentID > Math.max(...documents.map((one) => one.documentID)))
    const { data: people } = await admin.get(`/Person?PersonID=${personID}`)
    // The same number again is no change, which only the key can tell.
    const sealed = await sealedNumber(connection)
    const unchanged = await admin.put('/Person', { ...people[0], taxationFileNumber: taxNumber })
    assert.equal(unchanged.status, 200, unchanged.text)
    assert.deepEqual(await sealedNumber(connection), sealed)
    assert.equal((await ended(admin, lateID)).reportStatusID, 3, 'what waited is made')
    const report = { reportTypeID: 2, format: 'json', productID, name: 'Again' }
    assert.equal((await order(admin, report)).reportStatusID, 3)
    const { cursor } = await readEvents(home.service.admin)
    refused(await admin.get(`/Event?After=${cursor}`), 410, 'cursor_expired')
    const trail = await rowsOf(connection, `select operation from audit where username = 'cli'`)
    assert.deepEqual(trail, [{ operation: 'cli restore' }])
    assert.deepEqual(await constraintsOf(connection), await constraintsOf(home.service.connection))
  }

  const sealedNumber = (connection: pg.ClientConfig) =>
    rowsOf(connection, 'select taxation_file_number from person where person_id = $1', [personID])

  const constraintsOf = (connection: pg.ClientConfig) =>
    rowsOf(
      connection,
      `select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid), convalidated
       from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`,
    )

  it('with a byte too few, too many or another is refused, and nothing is touched', async () => {
    const dataDir = temporaryFolder()
    const spoilt = async (path: string, spoil: (file: string) => void, words: RegExp) => {
      const copy = join(temporaryFolder(), 'copy')
      cpSync(folder, copy, { recursive: true })
      spoil(join(copy, path))
      const { code, errors } = await runCli(['restore', copy], { REGISTRY_DATA_DIR: dataDir })
      assert.equal(code, 1)
      assert.match(errors, words)
    }
    const flip = (file: string) => {
      const bytes = readFileSync(file)
      bytes[bytes.length >> 1]! ^= 1
      writeFileSync(file, bytes)
    }
    const content = filesBelow(join(folder, 'contents'))[0]!.slice(folder.length)
    await spoilt('tables/holding.copy', flip, /damaged: tables\/holding\.copy was changed/)
    await spoilt(
      'tables/audit.copy',
      (file) => appendFileSync(file, 'x'),
      /audit\.copy has \d+ byt/,
    )
    await spoilt(content, flip, /damaged: contents\/.* was changed/)
    await spoilt('manifest.json', flip, /manifest\.json of .* was changed, or is cut short/)
    assert.deepEqual(readdirSync(dataDir), [])
  })

  it('ends at a folder that the system does not let it make, with words', async () => {
    const own = { REGISTRY_DATA_DIR: home.dataDir }
    const { code, errors } = await runCli(['backup', '/proc/registry/new'], own)
    assert.equal(code, 1)
    assert.match(errors, /^The folder \/proc\/registry cannot be made .*: name one that can be/)
  })

  it('that its disk does not take leaves nothing, and says where it was to be', async () => {
    const full = join(temporaryFolder(), 'backup')
    const limited = ['-c', `trap '' XFSZ; ulimit -f 1; exec "$0" "$@"`, process.execPath]
    const own = { REGISTRY_DATA_DIR: home.dataDir }
    const making = startCommand('sh', [...limited, ...cliCommand(['backup', full])], own)
    assert.equal(await making.exited, 1)
    assert.match(making.errors(), /^The backup was broken off, .* in \/.*: EFBIG: /)
    assert.ok(making.errors().includes(full))
    assert.deepEqual(readdirSync(full), [])
  })

  it('killed while it is made is none, and its folder is not taken for another', async () => {
    const { admin } = home.service
    const bytes = randomBytes(1000)
    const documentID = await newDocument(admin, fund.productID, bytes)
    const { place } = await storedAt(documentID)
    // Whoever opens this waits, so that the backup is caught in the middle.
    const pipe = await startCommand('sh', ['-c', `rm ${place} && mkfifo ${place}`], {}).exited
    assert.equal(pipe, 0)
    const cut = join(temporaryFolder(), 'backup')
    const making = start(cliCommand(['backup', cut]), { REGISTRY_DATA_DIR: home.dataDir })
    await until('the middle', () => existsSync(join(cut, 'contents.list')))
    making.kill('SIGKILL')
    await making.exited
    writeFileSync(`${place}.new`, bytes)
    await startCommand('mv', [`${place}.new`, place], {}).exited
    const refused = await runCli(['restore', cut], { REGISTRY_DATA_DIR: temporaryFolder() })
    assert.equal(refused.code, 1)
    assert.match(refused.errors, /holds no finished backup/)
    const again = await runCli(['backup', cut], { REGISTRY_DATA_DIR: home.dataDir })
    assert.match(again.errors, /is not empty: a backup needs a folder of its own/)
  })

  it('is restored on a server of one’s own without superuser, key or what was lost', async () => {
    const lossy = await lossyBackup()
    const owner = `owner_${randomBytes(4).toString('hex')}`
    const connection = await emptyDatabase()
    await rowsOf(connection, `create role ${owner} login password 'secret'`)
    await rowsOf(connection, `grant registry_service to ${owner}`)
    await rowsOf(connection, `alter database ${connection.database} owner to ${owner}`)
    const own = { ...connection, user: owner, password: 'secret' }
    const env = { DATABASE_URL: urlOf(own), REGISTRY_DATA_DIR: temporaryFolder() }
    const { code, output, errors } = await runCli(['restore', '--without-key', lossy], env)
    assert.equal(code, 0, errors + output)
    assert.match(output, /checks, nothing found/)
    assert.match(output, /sealed with the encryption key .* does not start without it/)
    assert.match(output, /^1 stored files were lost before the backup was made\.$/m)
    const again = await runCli(['restore', '--without-key', lossy], env)
    assert.match(again.errors, /The database is not empty/)
    const [row] = await rowsOf(own, 'select count(*)::int as n from biz_transaction')
    assert.ok(row.n > earlier.size)
  })

  /** A backup in which one file was changed. */
  async function lossyBackup() {
    const documentID = await newDocument(home.service.admin, fund.productID, randomBytes(1000))
    const { sha256, place } = await storedAt(documentID)
    writeFileSync(place, 'not what it was')
    const lossy = temporaryFolder()
    const made = await runCli(['backup', lossy], { REGISTRY_DATA_DIR: home.dataDir })
    assert.equal(made.code, 1)
    assert.match(made.errors, new RegExp(`^1 stored files are missing or damaged.*${sha256}`))
    return lossy
  }

  async function storedAt(documentID: number) {
    const [{ sha256 }] = await rowsOf(
      home.service.connection,
      'select file_sha256 as sha256 from document where document_id = $1',
      [documentID],
    )
    const place = join(home.dataDir, 'files', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
    return { sha256, place }
  }
})
