import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { lookups } from '../../src/platform/lookup/lookups.ts'
import type { Database, Snapshot } from '../../src/platform/sql/handle.ts'
import { lookBack } from '../../src/platform/sql/known.ts'
import { kinds } from '../../src/records/report/kinds.ts'
import type { Subject } from '../../src/records/report/subject.ts'
import { tableOf } from '../../src/records/report/table.ts'
import { rowsOf } from '../support/database.ts'
import { allot } from '../support/distribution.ts'
import { openAsService, readingsOf } from '../support/explain.ts'
import { type Fund, newAccounts, newFund } from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

/** Members at first, and then once more. */
const count = 100

let service: Service
let database: Database
let fund: Fund
before(async () => {
  service = await startService()
  fund = await newFund(service, { accounts: 0 })
  database = openAsService(service.connection)
})
after(async () => {
  await database.close()
  await service.stop()
})

/** Each member a person with an address, of which all have been written anew since. */
const asPersons = `
  with held as (select biz_entity_id from account where account_id = any($1::int[])),
  born as (
    insert into person (first_name, last_name, is_director_of_corporate_trustee, is_pep,
      is_sophisticated_investor, is_trustee)
    select biz_entity_id::text, 'Member', false, false, false, false from held
    returning person_id, first_name),
  housed as (
    insert into address (person_id, address_type_id, address_line)
    select person_id, 8, '1 High Street' from born returning *),
  joined as (
    insert into biz_entity_party (biz_entity_id, person_id, is_primary_contact,
      is_income_receiving, is_signatory, is_authorised_nominee, is_power_of_attorney)
    select first_name::int, person_id, true, true, true, false, false from born returning *)
  insert into record_version (table_name, record_id, valid_to, image)
  select 'address', address_id, now(), to_jsonb(housed) from housed
  union all
  select 'biz_entity_party', biz_entity_party_id, now(), to_jsonb(joined) from joined`

async function addMembers() {
  const accounts = await newAccounts(service, fund.productID, count)
  fund.accounts.push(...accounts)
  await rowsOf(service.connection, asPersons, [accounts.map(({ accountID }) => accountID)])
  const units = accounts.map(({ accountID }) => ({ accountID, quantity: 100 }))
  await allot(service, fund, units, '2024-01-01')
  await rowsOf(service.connection, 'analyze')
}

/** The rows that a report reads, of every table and list, counting those it throws away. */
async function readBy(typeID: number, namedAt?: string): Promise<number> {
  const subject = { productID: fund.productID, date: '2024-06-30' } as Subject
  const readings = await readingsOf(database, async (tx) => {
    const present = { ...tx, stream: () => assert.fail('read at once') } as unknown as Snapshot
    const snapshot = namedAt ? await lookBack(present, { namedAt }) : present
    const { count: rows } = await tableOf(snapshot, await kinds[typeID]!.sketch!(snapshot, subject))
    assert.ok(rows > 0)
  })
  return readings.reduce((sum, { rows }) => sum + rows, 0)
}

describe('Reports read in proportion to the members:', () => {
  const { ReportType } = lookups
  it('the register with the names of an earlier day, and holding ranges', async () => {
    await addMembers()
    const read = async () => ({
      'Register of members': await readBy(ReportType['Register of members'], '2024-07-01T00:00Z'),
      'Holding ranges': await readBy(ReportType['Holding ranges']),
    })
    const few = await read()
    await addMembers()
    const many = await read()
    for (const [name, rows] of Object.entries(many)) {
      const before = few[name as keyof typeof few]
      assert.ok(rows < 2.5 * before, `${name}: ${before} -> ${rows}`)
    }
  })
})
