import sql from 'sql-template-tag'
import { accountReference } from '../../parties/account/reference.ts'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, type Problem, refuseAll } from '../../platform/refusal.ts'
import { wholeUnits } from '../../platform/shape/decimal.ts'
import { mostProblems } from '../../platform/shape/rules.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { locateAll } from '../../platform/sql/identify.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
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
      returning gross_amount),
    known as (
      -- An account that is entitled cannot be deleted any more, also one that never held a unit.
      insert into ledger_account (product_id, account_id)
      select ${which.productID}::int, l.account_id
      from unnest(${selection.preCalculated.map(({ accountID }) => accountID)}::int[])
        l (account_id)
      on conflict do nothing)
    select count(*)::int as accounts, trim_scale(coalesce(sum(gross_amount), 0))::text as total
    from entitled`)
  const { accounts, total } = done!
  refuseUnshared(stored, total)
  await moveOn(tx, which, Declared, sql`declared_amount = ${total}, declared_date = now()`)
  return {
    ...(await renderDistributionList(tx, which)),
    message: `Declared ${total} for ${accounts} accounts. Pay it with POST /Distribution/Payment.`,
    ids: [which.id],
    productID: which.productID,
    counts: { accounts },
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

/** A total is shared to the last cent; where nobody is left to share it, nothing is declared. */
export function refuseUnshared({ perUnit, total, decimals }: Stored, declared: string) {
  if (perUnit || !total) return
  if (wholeUnits(total, decimals) !== wholeUnits(declared, decimals))
    throw conflict(
      'nobody_to_share',
      `Of the total of ${total} only ${declared} can be declared: no other account has units to ` +
        'share in it.',
    )
}

/** The three lists by account id. An account that is unknown, or in lists that clash, is 400. */
export async function selectionOf(
  handle: Sql,
  { productID }: Stored,
  declaration: Declaration,
): Promise<Selection> {
  const { preCalculatedAccounts = [], includeAccounts = [], excludeAccounts = [] } = declaration
  const find = (list: object[], name: string) => findAccounts(handle, productID, list, name)
  const found = [
    await find(preCalculatedAccounts, 'preCalculatedAccounts'),
    await find(includeAccounts, 'includeAccounts'),
    await find(excludeAccounts, 'excludeAccounts'),
  ]
  const [listed, include, exclude] = found.map(({ ids }) => ids) as [number[], number[], number[]]
  const problems = [
    ...found.flatMap((one) => one.problems),
    ...clashes(listed, include, exclude),
  ].slice(0, mostProblems)
  refuseAll(400, problems)
  const preCalculated = listed.map((accountID, i) => ({
    accountID,
    amount: preCalculatedAccounts[i]!.amount,
  }))
  // A list of nobody limits nothing: it is what a client sends that has no list.
  return { preCalculated, include: include.length > 0 ? include : undefined, exclude }
}

/** An amount given for an account that the other lists leave out is a mistake, not an order. */
function clashes(listed: number[], include: number[], exclude: number[]): Problem[] {
  const [included, excluded] = [new Set(include), new Set(exclude)]
  const clash = (name: string, i: number, words: string): Problem => ({
    code: 'lists_clash',
    field: `${name}[${i}]`,
    message: `${name}[${i}] ${words}.`,
  })
  return [
    ...include.flatMap((id, i) =>
      id && excluded.has(id) ? [clash('includeAccounts', i, 'is in excludeAccounts too')] : [],
    ),
    ...listed.flatMap((id, i) => {
      if (!id) return []
      if (excluded.has(id)) return [clash('preCalculatedAccounts', i, 'is in excludeAccounts too')]
      return included.size > 0 && !included.has(id)
        ? [clash('preCalculatedAccounts', i, 'is not in includeAccounts')]
        : []
    }),
  ]
}

/** The ids that a list names, 0 for one that is not there, and what is wrong with it. */
async function findAccounts(handle: Sql, productID: number, list: object[], name: string) {
  const located = await locateAll(handle, accountReference, list, {
    productIDs: list.map(() => productID),
    path: (i) => `${name}[${i}]`,
  })
  const ids = located.map((one) => ('id' in one ? one.id : 0))
  const seen = new Set<number>()
  const problems = located.flatMap((one, i): Problem[] => {
    if ('problem' in one) return [one.problem]
    const field = `${name}[${i}]`
    if (seen.has(one.id))
      return [{ code: 'given_twice', field, message: `${field} is in the list already.` }]
    seen.add(one.id)
    return []
  })
  return { ids, problems }
}
