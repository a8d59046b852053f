import sql from 'sql-template-tag'
import { accountReference } from '../account/reference.ts'
import type { Actor } from '../actor.ts'
import { lookups } from '../lookup/lookups.ts'
import { conflict, invalid, Refusal } from '../refusal.ts'
import type { Sql, Tx } from '../sql/handle.ts'
import { locateAll } from '../sql/identify.ts'
import type { Written } from '../sql/unit-of-work.ts'
import { missingOf, type Selection, selectEntitlements } from './entitlement.ts'
import type { Declaration } from './schema.ts'
import {
  identifyDistribution,
  lockDistribution,
  renderDistributionList,
  type Stored,
} from './sql.ts'
import { moveOn, workOnWholeTables } from './stage.ts'

const { Configured, Declared } = lookups.DistributionStatus

/** Locks in who is entitled to what. Later transactions, back-dated ones too, change none of it. */
export async function declareDistribution(
  tx: Tx,
  actor: Actor,
  declaration: Declaration,
): Promise<Written> {
  const which = await identifyDistribution(tx, actor, declaration)
  const stored = await lockDistribution(tx, which)
  refuseUndeclarable(stored)
  const selection = await selectionOf(tx, stored, declaration)
  await workOnWholeTables(tx)
  const entitlements = await selectEntitlements(tx, stored, selection)
  const [done] = await tx.query<{ accounts: number; total: string }>(sql`
    with entitled as (
      insert into entitlement (product_id, corporate_action_id, account_id, investment_id, units,
        gross_amount, component_amounts, drp_amount, cash_amount)
      ${entitlements}
      returning account_id, gross_amount),
    known as (
      -- An account that is entitled cannot be deleted any more, also one that never held a unit.
      insert into ledger_account (product_id, account_id)
      select ${which.productID}::int, l.account_id
      from unnest(${selection.preCalculated.map(({ accountID }) => accountID)}::int[]) l (account_id)
      on conflict do nothing)
    select count(*)::int as accounts, trim_scale(coalesce(sum(gross_amount), 0))::text as total
    from entitled`)
  const { accounts, total } = done!
  await moveOn(tx, which, Declared, sql`declared_amount = ${total}, declared_date = now()`)
  return {
    ...(await renderDistributionList(tx, which)),
    message: `Declared ${total} for ${accounts} accounts. Pay it with POST /Distribution/Payment.`,
    ids: [which.id],
    productID: which.productID,
    changes: { accounts, total, ...declaration },
  }
}

export function refuseUndeclarable(stored: Stored) {
  if (stored.statusID !== Configured)
    throw conflict('wrong_stage', 'The distribution is declared already.')
  const missing = missingOf(stored)
  if (missing.length > 0)
    throw conflict(
      'incomplete',
      `The configuration is not complete: ${missing.join(', ')} missing.`,
    )
  if (stored.recordDate! > new Date().toISOString().slice(0, 10))
    throw conflict('record_date', `The record date ${stored.recordDate} has not come yet.`)
}

/** The three lists by account id. An account that is unknown, or in two lists that clash, is 400. */
export async function selectionOf(
  handle: Sql,
  { productID }: Stored,
  declaration: Declaration,
): Promise<Selection> {
  const { preCalculatedAccounts = [], includeAccounts, excludeAccounts = [] } = declaration
  const find = (list: object[], name: string) => findAccounts(handle, productID, list, name)
  const listed = await find(preCalculatedAccounts, 'preCalculatedAccounts')
  const include = includeAccounts && (await find(includeAccounts, 'includeAccounts'))
  const exclude = await find(excludeAccounts, 'excludeAccounts')
  const excluded = new Set(exclude)
  const clash = [...(include ?? []), ...listed].find((id) => excluded.has(id))
  if (clash !== undefined)
    throw invalid('account_in_two_lists', `Account ${clash} is excluded and listed at once.`)
  const preCalculated = listed.map((accountID, i) => ({
    accountID,
    amount: preCalculatedAccounts[i]!.amount,
  }))
  return { preCalculated, include, exclude }
}

async function findAccounts(handle: Sql, productID: number, list: object[], name: string) {
  const located = await locateAll(handle, accountReference, list, {
    productIDs: list.map(() => productID),
    path: (i) => `${name}[${i}]`,
  })
  const problems = located.flatMap((one) => ('problem' in one ? [one.problem] : []))
  if (problems.length > 0) throw new Refusal(400, problems.slice(0, 100))
  const ids = located.map((one) => ('id' in one ? one.id : 0))
  if (new Set(ids).size < ids.length)
    throw invalid('given_twice', `${name} names an account twice.`, name)
  return ids
}
