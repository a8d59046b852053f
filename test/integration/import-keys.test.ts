import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, rowsOf, urlOf } from '../support/database.ts'
import {
  depositRow,
  endOf,
  errorsOf,
  imported,
  importFor,
  sendFile,
  transactionFile,
  unitsIn,
} from '../support/imports.ts'
import { type Fund, newFund } from '../support/ledger.ts'
import { runCli, temporaryFolder } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, withService } from '../support/service.ts'

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64')
const keysOf = (current: number, ...previous: number[]) => ({
  REGISTRY_ENCRYPTION_KEY: key(current),
  REGISTRY_PREVIOUS_ENCRYPTION_KEYS: previous.map(key).join(','),
})
const terms = { type: 'Transactions', mode: 'continue' }

it('Files of imports are read after a change of the key, without the old one', async () => {
  const connection = await freshDatabase()
  const REGISTRY_DATA_DIR = temporaryFolder()
  const place = { DATABASE_URL: urlOf(connection), REGISTRY_DATA_DIR }
  const node = (...keys: [number, ...number[]]) => ({ ...keysOf(...keys), REGISTRY_DATA_DIR })
  let fund: Fund
  let accountID = 0
  let [done, waiting, fromDocument] = [0, 0, 0]

  const before = async (service: Service) => {
    const { admin } = service
    fund = await newFund(service)
    accountID = fund.accountID
    const stop = await importFor(service, node(1))
    const row = depositRow(fund, accountID, 'much')
    done = (await imported(admin, terms, transactionFile(row))).importID
    await stop()
    const good = transactionFile(depositRow(fund, accountID, 100))
    waiting = (await sendFile(admin, terms, good)).data.importID
    // The file of a document is not sealed, and stays as it is.
    const document = { productID: fund.productID, documentTypeID: 1, name: 'Deposits' }
    const { documentID } = (await admin.post('/Document', document)).data
    const content = Buffer.from(transactionFile(depositRow(fund, accountID, 11))).toString('base64')
    const file = { documentID, fileName: 'deposits.csv', content }
    assert.equal((await admin.post('/Document/File', file)).status, 200)
    const ordered = await admin.post('/Import', { ...terms, documentID, fileName: 'd.csv' })
    fromDocument = ordered.data.importID
  }
  await withService(node(1), before, connection)

  const without = await runCli(['rotate-encryption-key'], { ...place, ...keysOf(2) })
  assert.equal(without.code, 1)
  assert.match(without.errors, new RegExp(`imports ${done}, ${waiting} could not be decrypted`))
  const rotated = await runCli(['rotate-encryption-key'], { ...place, ...keysOf(2, 1) })
  assert.equal(rotated.code, 0, rotated.errors)
  assert.match(rotated.output, /^Sealed 2 files of imports/m)
  const again = await runCli(['rotate-encryption-key'], { ...place, ...keysOf(2, 1) })
  assert.doesNotMatch(again.output, /imports/)

  const after = async (service: Service) => {
    const { admin } = service
    const stop = await importFor(service, node(2))
    for (const importID of [waiting, fromDocument]) {
      const { status, rowsAccepted, message } = await endOf(admin, importID)
      assert.deepEqual([status, rowsAccepted], ['Completed', 1], message)
    }
    await stop()
    assert.equal(await unitsIn(admin, accountID), 111)
    const errors = await errorsOf(admin, { importID: done })
    assert.match(errors.toString(), /much/)
  }
  await withService(node(2), after, connection)

  const wrong = async ({ admin }: Service) => {
    const path = `/Import/File?ImportID=${done}&Result=errors`
    const told = await admin.get(path)
    refused(told, 409, 'key_missing')
    assert.match(told.message!, /REGISTRY_PREVIOUS_ENCRYPTION_KEYS/)
  }
  await rowsOf(connection, 'delete from encryption_key')
  await withService(node(3), wrong, connection)
})
