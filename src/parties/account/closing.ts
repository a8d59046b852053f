import sql from 'sql-template-tag'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lostRace, type Row } from '../../platform/sql/rows.ts'
import { byProduct } from '../../platform/sql/spread.ts'

/** An account that is to be closed, and the field that says so. */
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
 * Keeps postings out of accounts until they are closed: what was posted is seen, and what waits
 * will find the account closed. Whoever changes units holds the account's row of the ledger; its
 * first transaction creates that row, and by its reference holds the account itself. So both are
 * locked, in that order. An account that got its ledger row in between may be in use again already:
 * then the write starts again.
 */
async function lockPostings(tx: Tx, accounts: readonly ClosingAccount[]) {
  const before = await lockLedgerRows(tx, accounts)
  const ids = accounts.map(({ row }) => row.account_id)
  await lockAccountRows(
    tx,
    accounts.map(({ row }) => row),
  )
  const [now] = await tx.query<{ rows: number }>(sql`
    select count(*)::int as rows
    from unnest(${accounts.map(({ row }) => row.product_id)}::int[], ${ids}::int[])
      g (product_id, account_id)
    join ledger_account l on l.product_id = g.product_id and l.account_id = g.account_id`)
  if (now!.rows !== before) throw lostRace('account') // an aggregate has one row
}

/**
 * Where the ledger is spread, each server has a copy of an account, and whoever posts holds that
 * beside their product: so it is locked there, for which the statement names the product's ledger.
 */
export async function lockAccountRows(tx: Tx, accounts: readonly Row[]) {
  const own = accounts.map((row) => ({ productID: Number(row.product_id), id: row.account_id }))
  for (const [productID, rows] of byProduct(own))
    await tx.query(sql`
      select 1 from account a
      left join ledger_account l on l.product_id = ${productID} and l.account_id = a.account_id
      where a.account_id = any(${rows.map(({ id }) => id)}::int[])
      order by a.account_id for update of a`)
}

/** In the ledger's order: product by product, each in the order of the accounts' ids. */
async function lockLedgerRows(tx: Tx, accounts: readonly ClosingAccount[]): Promise<number> {
  const products = [...new Set(accounts.map(({ row }) => row.product_id as number))]
  let locked = 0
  for (const productID of products.sort((a, b) => a - b)) {
    const own = accounts.filter(({ row }) => row.product_id === productID)
    // Written anew, not only locked: a posting that has read the account already sees it changed.
    const rows = await tx.query(sql`
      with locked as (
        select account_id from ledger_account where product_id = ${productID}
          and account_id = any(${own.map(({ row }) => row.account_id)}::int[])
        order by account_id for update)
      update ledger_account l set last_date = l.last_date from locked
      where l.product_id = ${productID} and l.account_id = locked.account_id
      returning l.account_id`)
    locked += rows.length
  }
  return locked
}
