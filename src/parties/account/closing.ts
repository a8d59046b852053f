import sql from 'sql-template-tag'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lostRace, type Row } from '../../platform/sql/rows.ts'
import { byProduct } from '../../platform/sql/spread.ts'
import { lockLedgerRows } from './ledger-row.ts'

/** An account that is about to be closed, and the field of the request that closes it. */
export type ClosingAccount = { row: Row; field: string }

type Units = { accountID: number; quantity: string; investment: string }

/** Refuses to close accounts with units left, and names them. */
export async function refuseUnitsLeft(tx: Tx, accounts: readonly ClosingAccount[]): Promise<void> {
  if (accounts.length === 0) return
  await lockPostings(tx, accounts)
  const productIDs = accounts.map(({ row }) => row.product_id)
  const ids = accounts.map(({ row }) => row.account_id)
  const left = await tx.query<Units>(sql`
    select h.account_id as "accountID", trim_scale(h.quantity)::text as quantity,
      coalesce(i.security_code, i.external_investment_id, i.investment_id::text) as investment
    from unnest(${productIDs}::int[], ${ids}::int[]) g (product_id, account_id)
    join holding h on h.product_id = g.product_id and h.account_id = g.account_id
    join investment i on i.investment_id = h.investment_id
    where h.quantity > 0 order by h.account_id, h.investment_id`)
  refuseAll(
    409,
    accounts.flatMap(({ row, field }): Problem[] => {
      const units = left.filter(({ accountID }) => accountID === row.account_id)
      if (units.length === 0) return []
      const what = units.map(({ quantity, investment }) => `${quantity} units of ${investment}`)
      const message = `The account ${row.account_number} still has ${what.join(', ')}.`
      return [{ code: 'has_units', field, message }]
    }),
  )
}

/**
 * Keeps postings out of accounts until they are closed: finished postings are seen here, and
 * waiting ones will find the account closed. A posting that changes units locks the account's
 * ledger row. The first transaction of an account creates that row, and its foreign key locks the
 * account row itself. So both rows are locked here, the ledger row first. If an account got its
 * ledger row in between, it may be in use again, and the write starts again.
 */
async function lockPostings(tx: Tx, accounts: readonly ClosingAccount[]) {
  const rows = accounts.map(({ row }) => row)
  const before = await lockLedgerRows(tx, rows.map(keyOf))
  await lockAccountRows(tx, rows)
  const [now] = await tx.query<{ rows: number }>(sql`
    select count(*)::int as rows
    from unnest(${rows.map(({ product_id }) => product_id)}::int[],
      ${rows.map(({ account_id }) => account_id)}::int[]) g (product_id, account_id)
    join ledger_account l on l.product_id = g.product_id and l.account_id = g.account_id`)
  if (now!.rows !== before) throw lostRace('account') // count(*) gives one row
}

const keyOf = (row: Row) => ({ productID: Number(row.product_id), id: Number(row.account_id) })

/**
 * Locks accounts. If the ledger is spread over servers, each server has a copy of the accounts, and
 * a posting locks the copy beside its product: the SQL statement names the product's ledger, so
 * that it locks that same copy.
 */
export async function lockAccountRows(tx: Tx, accounts: readonly Row[]) {
  for (const [productID, rows] of byProduct(accounts.map(keyOf)))
    await tx.query(sql`
      select 1 from account a
      left join ledger_account l on l.product_id = ${productID} and l.account_id = a.account_id
      where a.account_id = any(${rows.map(({ id }) => id)}::int[])
      order by a.account_id for update of a`)
}
