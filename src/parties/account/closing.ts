import sql from 'sql-template-tag'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Row } from '../../platform/sql/rows.ts'

/** An account that is about to be closed, and the field of the request that closes it. */
export type ClosingAccount = { row: Row; field: string }

type Units = { accountID: number; quantity: string; investment: string }

/** Refuses to close accounts with units left, and names them; postings must be kept out of them. */
export async function refuseUnitsLeft(tx: Tx, accounts: readonly ClosingAccount[]): Promise<void> {
  if (accounts.length === 0) return
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
