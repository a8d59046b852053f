import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import sql from 'sql-template-tag'
import { lookups } from '../../src/platform/lookup/lookups.ts'
import type { Database, Snapshot } from '../../src/platform/sql/handle.ts'
import { lookBack } from '../../src/platform/sql/known.ts'
import { kinds } from '../../src/records/report/kinds.ts'
import type { Subject } from '../../src/records/report/subject.ts'
import { tableOf } from '../../src/records/report/table.ts'
import type { StatementSubject } from '../../src/records/statement/kind.ts'
import { statementKinds } from '../../src/records/statement/kinds.ts'
import { withHolders } from '../../src/records/statement/parts.ts'
import { rowsOf } from '../support/database.ts'
import { allot, configure, type Distribution, stage, takeBack } from '../support/distribution.ts'
import { openAsService, readingsOf } from '../support/explain.ts'
import { type Fund, newFund, only } from '../support/ledger.ts'
import { newRun, paidFund, payOut, runBody } from '../support/payment-run.ts'
import { type Service, startService } from '../support/service.ts'

/** Makes each member a person with an address, an e-mail address and a bank account. */
const asPersons = `
  with held as (select biz_entity_id from account),
  born as (
    insert into person (first_name, last_name, is_director_of_corporate_trustee, is_pep,
      is_sophisticated_investor, is_trustee)
    select biz_entity_id::text, 'Member', false, false, false, false from held
    returning person_id, first_name),
  housed as (
    insert into address (person_id, address_type_id, address_line)
    select person_id, 8, '1 High Street' from born),
  reached as (
    insert into communication (person_id, communication_type_id, name)
    select person_id, 1, person_id || '@example.com' from born),
  banked as (
    insert into payment_detail (biz_entity_id, payment_type_id, bsb, account_number, account_name,
      is_for_deposit, is_for_distribution, is_for_redemption, is_for_other, is_default)
    select biz_entity_id, 1, '062000', '12345678', 'Member', false, true, false, false, true
    from held)
  insert into biz_entity_party (biz_entity_id, person_id, is_primary_contact, is_income_receiving,
    is_signatory, is_authorised_nominee, is_power_of_attorney)
  select first_name::int, person_id, true, true, true, false, false from born`

/** Inserts three later versions of every row of a table. */
const writtenAnew = (table: string) => `
  insert into record_version (table_name, record_id, valid_to, image)
  select '${table}', ${table}_id, now() + n * interval '1 millisecond', to_jsonb(t)
  from ${table} t, generate_series(1, 3) n`
const named = `account biz_entity person biz_entity_party address communication payment_detail
  investment_price`.split(/\s+/)

type Register = {
  database: Database
  fund: Fund
  corporateActionID: number
  knownAt: string
}

/** Members with a distribution and a payment run, reversed after the moment that is asked for. */
async function register(service: Service, members: number): Promise<Omit<Register, 'database'>> {
  const { admin, connection } = service
  const fund = await newFund(service, { accounts: members })
  await rowsOf(connection, 'update product set withholding = true')
  await rowsOf(connection, asPersons)
  const units = fund.accounts.map(({ accountID }) => ({ accountID, quantity: 100 }))
  await allot(service, fund, units, '2024-01-01')
  const distribution = await configure(service, fund, { distributionAmountPerUnit: 0.1 })
  await stage(admin, 'Declare', distribution)
  await stage(admin, 'Payment', distribution)
  const { paymentRunID } = only(await admin.post('/PaymentRun', runBody(fund)))
  const [{ moment }] = (await rowsOf(connection, 'select now()::text as moment')) as [
    { moment: string },
  ]
  assert.equal((await admin.delete(`/PaymentRun?PaymentRunID=${paymentRunID}`)).status, 200)
  for (const status of [3, 2]) await takeBack(admin, distribution, status)
  for (const table of named) await rowsOf(connection, writtenAnew(table))
  await rowsOf(connection, 'analyze')
  return { fund, corporateActionID: distribution.corporateActionID, knownAt: moment }
}

const { ReportType } = lookups

/** Runs the reads of a report: of its table, or of its letters if it has no table. */
async function read(snapshot: Snapshot, typeID: number, subject: Subject): Promise<number> {
  const { sketch } = kinds[typeID]!
  if (sketch) return (await tableOf(snapshot, await sketch(snapshot, subject))).count
  const { shared, accounts } = statementKinds[typeID]!
  const of = subject as StatementSubject
  const letters = withHolders(accounts(of, await shared(snapshot, of)))
  return (await snapshot.query(letters)).length
}

type Asked = { typeID: number; knownAt?: string; namedAt?: string }

/** The rows that a report reads, of all tables and lists, including those it discards. */
async function readBy(register: Register, { typeID, ...past }: Asked): Promise<number> {
  const { fund, database, corporateActionID } = register
  const isOfOne = typeID === ReportType['Holding statement']
  const subject = {
    ...{ productID: fund.productID, corporateActionID, top: 20, toDate: '2025-07-31' },
    date: typeID === ReportType['Annual tax statement'] ? '2026-06-30' : '2025-07-31',
    fromDate: '2024-01-01',
    ...(isOfOne && { bizEntityID: fund.accounts[0]!.bizEntityID }),
  } as Subject
  const readings = await readingsOf(database, async (tx) => {
    const present = { ...tx, stream: () => assert.fail('read at once') } as unknown as Snapshot
    const isPast = past.knownAt ?? past.namedAt
    const snapshot = isPast ? await lookBack(present, past) : present
    const rows = await read(snapshot, typeID, subject)
    assert.ok(rows > 0 || typeID === ReportType['Unclaimed money'], `report ${typeID}`)
  })
  return readings.reduce((sum, { rows }) => sum + rows, 0)
}

/** The rows that each report type reads in a register of so many members, by its name. */
async function readOf(members: number): Promise<Record<string, number>> {
  const service = await startService()
  const database = openAsService(service.connection)
  try {
    const made = { ...(await register(service, members)), database }
    const { knownAt } = made
    const read: Record<string, number> = {
      'Register of members as named': await readBy(made, {
        ...{ typeID: ReportType['Register of members'], namedAt: '2024-07-01T00:00Z' },
      }),
      'Holding ranges': await readBy(made, { typeID: ReportType['Holding ranges'] }),
    }
    for (const [name, typeID] of Object.entries(ReportType))
      read[`${name} as known`] = await readBy(made, { typeID, knownAt })
    return read
  } finally {
    await database.close()
    await service.stop()
  }
}

/** The rows of some tables that a payment reconciliation of one distribution reads. */
async function reconciled(database: Database, { productID, corporateActionID }: Distribution) {
  const readings = await readingsOf(database, async (tx) => {
    const subject = { productID, corporateActionID, fromDate: null, toDate: 'infinity' } as Subject
    const rows = await read(
      tx as unknown as Snapshot,
      ReportType['Payment reconciliation'],
      subject,
    )
    assert.equal(rows, 17)
  })
  return Object.fromEntries(
    ['entitlement', 'biz_transaction', 'payment'].map((name) => [
      name,
      readings.reduce((sum, { table, rows }) => sum + (table === name ? rows : 0), 0),
    ]),
  )
}

describe('A payment reconciliation of one distribution', () => {
  it('reads nothing of the others, however many there were', async () => {
    const service = await startService()
    const database = openAsService(service.connection)
    try {
      const { fund, distribution } = await paidFund(service, Array(40).fill(100))
      await newRun(service.admin, fund)
      const besides = async (others: number) => {
        for (let n = 0; n < others; n++) {
          await payOut(service, fund)
          await newRun(service.admin, fund)
        }
        await rowsOf(service.connection, 'analyze')
        return reconciled(database, distribution)
      }
      const few = await besides(2)
      assert.deepEqual(await besides(4), few)
    } finally {
      await database.close()
      await service.stop()
    }
  })
})

describe('A report of holdings as known', () => {
  it('counts the transactions of each once', async () => {
    const service = await startService()
    const database = openAsService(service.connection)
    try {
      const { fund } = await paidFund(service, Array(30).fill(100))
      await rowsOf(service.connection, 'analyze')
      const [{ count }] = await rowsOf(
        service.connection,
        'select count(*)::int as count from biz_transaction',
      )
      const subject = { productID: fund.productID, date: '2026-01-01' } as Subject
      const modes = ['force_custom_plan'] as const
      const readings = await readingsOf(
        database,
        async (tx) => {
          const [now] = await tx.query<{ knownAt: string }>(sql`
            select clock_timestamp()::text as "knownAt"`)
          const past = await lookBack(tx as unknown as Snapshot, now!)
          const { select } = await kinds[ReportType.Holdings]!.sketch!(past, subject)
          assert.equal((await past.query(select)).length, 30)
        },
        modes,
      )
      const read = readings.filter(({ table }) => table === 'biz_transaction')
      const rows = read.reduce((sum, one) => sum + one.rows, 0)
      // They may be read once more, for whether the holding had begun.
      assert.ok(rows <= 2 * count, `${rows} rows for ${count} transactions`)
    } finally {
      await database.close()
      await service.stop()
    }
  })
})

describe('Reports read in proportion to the members,', () => {
  it('of the past, too, whatever has been written anew since', async () => {
    const few = await readOf(80)
    const many = await readOf(160)
    const grown = Object.entries(many)
      .map(([name, rows]) => [name, few[name]!, rows] as const)
      .filter(([, before, rows]) => rows >= 2.5 * before)
    assert.deepEqual(grown, [])
  })
})
