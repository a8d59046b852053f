import sql from 'sql-template-tag'
import type { Problem } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'

/** A holding that would go below zero: after which transaction first, when, and by how much. */
export type Shortfall = {
  accountID: number
  investmentID: number
  id: number
  date: string
  short: string
}

/** Shortfalls in words: which account, which investment, when and by how much. */
export async function shortfallProblems(tx: Tx, shortfalls: readonly Shortfall[]) {
  const names = await tx.query<{ name: string }>(sql`
    select 'The holding of account ' || a.account_number || ' in '
      || coalesce(i.security_code, i.external_investment_id, i.name, i.investment_id::text) as name
    from unnest(${shortfalls.map(({ accountID }) => accountID)}::int[],
      ${shortfalls.map(({ investmentID }) => investmentID)}::int[])
      with ordinality s (account_id, investment_id, place)
    join account a on a.account_id = s.account_id
    join investment i on i.investment_id = s.investment_id
    order by s.place`)
  return shortfalls.map(
    ({ date, short }, i): Problem => ({
      code: 'insufficient_holding',
      message: `${names[i]?.name} would be short by ${short} units on ${date}.`,
    }),
  )
}
