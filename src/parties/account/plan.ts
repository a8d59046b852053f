import sql from 'sql-template-tag'
import { productReference } from '../../catalogue/product/schema.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Code } from '../../platform/problem-codes.ts'
import { type Problem, Refusal, refuseAll } from '../../platform/refusal.ts'
import { inside, itemOf } from '../../platform/shape/path.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { identifyAll, namesAny } from '../../platform/sql/identify.ts'
import type { Plan } from '../../platform/sql/plan.ts'
import { lostRace, newIDs, type Row, rowColumns, rowFrom } from '../../platform/sql/rows.ts'
import { type ClosingAccount, refuseUnitsLeft } from './closing.ts'
import { type History, historiesOf } from './history.ts'
import { type AccountKey, keepPostingsOut } from './ledger-row.ts'
import { newAccountNumbers, retireAccountNumbers } from './number.ts'
import type { AccountInput } from './schema.ts'
import { accountTable } from './table.ts'

/** The accounts that a request gives for one entity. */
export type AccountList = {
  entityID: number
  isNew: boolean
  accounts: readonly AccountInput[]
  path: string
  /** The field of the request that closes the entity, and its accounts with it. */
  closedBy?: string | undefined
}

type Given = {
  list: AccountList
  input: AccountInput
  path: string
  productID: number | undefined
  before?: Row
}

export type PlannedAccounts = {
  /** The product of each entity's accounts, by entity id. */
  products: Map<number, number>
  /** The ids of entities whose accounts change. */
  changed: Set<number>
}

/**
 * Plans the changes that make each entity's accounts equal to its list, while the entities' rows
 * are locked. An account with history cannot be deleted, and its product and currency cannot
 * change.
 */
export async function planAccounts(
  tx: Tx,
  actor: Actor,
  lists: readonly AccountList[],
  plan: Plan,
): Promise<PlannedAccounts> {
  const given = await withProducts(tx, actor, lists)
  const current = await currentAccounts(tx, lists)
  matchAll(given, current)
  await refuseStrangers(tx, actor, given)
  refuseAll(400, given.flatMap(wrongProduct))
  const products = productsOf(given)
  const rows = await completeRows(tx, given)
  const changed = new Set<number>()
  const kept = new Set(given.flatMap(({ before }) => before?.account_id ?? []))
  const removed = current.filter(({ account_id }) => !kept.has(account_id!))
  const recounted = given.flatMap(({ before }, i) =>
    before && before.currency_id !== rows[i]!.currency_id ? [before] : [],
  )
  const closed = closing(given, rows)
  const touched = [...removed, ...recounted, ...closed.map(({ row }) => row)]
  await keepPostingsOut(tx, touched.map(keyOf))
  await refuseWithHistory(tx, removed, recounted)
  await refuseUnitsLeft(tx, closed)
  const renumbered = given.flatMap(({ before }, i) =>
    before && before.account_number !== rows[i]!.account_number ? [before] : [],
  )
  await retireAccountNumbers(
    tx,
    [...removed, ...renumbered].map((row) => row.account_id as number),
  )
  for (const row of removed) {
    plan.remove(accountTable, row.account_id as number)
    changed.add(row.biz_entity_id as number)
  }
  for (const [i, { list, before, path }] of given.entries()) {
    if (plan.put(accountTable, before, rows[i]!, path)) changed.add(list.entityID)
  }
  return { products, changed }
}

const { Closed } = lookups.AccountStatus

/** Accounts that are about to be closed, by their own status or with their entity. */
const closing = (given: readonly Given[], rows: readonly Row[]): ClosingAccount[] =>
  given.flatMap(({ list, before, path }, i) => {
    const row = rows[i]!
    if (!before) return []
    if (row.account_status_id === Closed && before.account_status_id !== Closed)
      return [{ row, field: inside(path, 'accountStatusID') }]
    return list.closedBy ? [{ row, field: list.closedBy }] : []
  })

/** Finds the product that each account names. An account that names none must exist already. */
async function withProducts(tx: Sql, actor: Actor, lists: readonly AccountList[]) {
  const given: Given[] = lists.flatMap((list) =>
    list.accounts.map((input, i) => ({
      list,
      input,
      path: itemOf(list.path, i),
      productID: undefined,
    })),
  )
  const naming = given.filter(
    ({ input, list }) => list.isNew || namesAny(productReference, input) || !namesAccount(input),
  )
  const ids = await identifyAll(
    tx,
    productReference,
    naming.map(({ input }) => input),
    { visible: inScope(actor, 'r.product_id'), path: (i) => naming[i]!.path },
  )
  for (const [i, one] of naming.entries()) one.productID = ids[i]!
  return given
}

const namesAccount = ({ accountID, externalAccountId }: AccountInput) =>
  accountID !== undefined || externalAccountId !== undefined

async function currentAccounts(tx: Sql, lists: readonly AccountList[]): Promise<Row[]> {
  const ids = lists.flatMap(({ entityID, isNew }) => (isNew ? [] : [entityID]))
  if (ids.length === 0) return []
  return tx.query<Row>(sql`
    select ${rowColumns(accountTable, 't')} from account t
    where t.biz_entity_id = any(${ids}::int[]) order by t.account_id`)
}

function matchAll(given: readonly Given[], current: readonly Row[]) {
  const twice: Problem[] = []
  const taken = new Set<Row>()
  for (const one of given) {
    if (one.list.isNew) continue
    const { accountID, externalAccountId } = one.input
    const row = current.find(
      (account) =>
        account.biz_entity_id === one.list.entityID &&
        (accountID
          ? account.account_id === accountID
          : account.external_account_id === (externalAccountId ?? undefined)),
    )
    if (!row) continue
    if (taken.has(row)) twice.push(problem(one, 'accountID', 'given_twice', 'is given twice'))
    taken.add(row)
    one.before = row
    one.productID ??= row.product_id as number
  }
  refuseAll(400, twice)
}

const problem = ({ path }: Given, name: string, code: Code, words: string): Problem => {
  const field = inside(path, name)
  return { code, field, message: `${field} ${words}.` }
}

const notFound = ({ path }: Given, name: string, value: string | number): Problem => {
  const field = inside(path, name)
  const message = `No record was found for ${field} ${JSON.stringify(value)}.`
  return { code: 'not_found', field, message }
}

/** Refuses ids that are not of the entity: they belong to another entity, or to none. */
async function refuseStrangers(tx: Sql, actor: Actor, given: readonly Given[]) {
  const strangers = given.filter(
    ({ list, input, before }) => !list.isNew && !before && namesAccount(input),
  )
  if (strangers.length === 0) return
  const ids = strangers.flatMap(({ input }) => input.accountID ?? [])
  const externals = strangers.flatMap(({ input }) => input.externalAccountId ?? [])
  const found = await tx.query<{ id: number; external: string | null; productID: number }>(sql`
    select account_id as id, external_account_id as external, product_id as "productID"
    from account r
    where (account_id = any(${ids}::int[]) or external_account_id = any(${externals}::text[]))
      and ${inScope(actor, 'r.product_id')}`)
  const missing: Problem[] = []
  const others: Problem[] = []
  for (const one of strangers) {
    const { accountID, externalAccountId } = one.input
    const isIt = accountID
      ? found.some(({ id }) => id === accountID)
      : found.some((row) => row.external === externalAccountId && row.productID === one.productID)
    const name = accountID ? 'accountID' : 'externalAccountId'
    if (isIt) others.push(problem(one, name, 'belongs_to_another', 'belongs to another entity'))
    else if (accountID) missing.push(notFound(one, name, accountID))
    else if (one.productID === undefined) missing.push(notFound(one, name, externalAccountId!))
  }
  refuseAll(400, others)
  refuseAll(404, missing)
}

/** All accounts of one entity share one product, and the product of an account never changes. */
function wrongProduct(one: Given, _place: number, all: readonly Given[]): Problem[] {
  if (one.before && one.before.product_id !== one.productID)
    return [problem(one, 'productID', 'immutable', 'of an account cannot change')]
  const first = all.find(({ list }) => list === one.list)!
  if (first.productID === one.productID) return []
  return [problem(one, 'productID', 'other_product', 'is not that of the other accounts')]
}

const productsOf = (given: readonly Given[]) =>
  new Map(given.map(({ list, productID }) => [list.entityID, productID!]))

/** The rows to be stored, with ids, numbers and the currency of their product. */
async function completeRows(tx: Tx, given: readonly Given[]): Promise<Row[]> {
  const currencies = await productCurrencies(tx, given)
  const added = given.filter(({ before }) => !before)
  const [ids] = await newIDs(tx, [{ table: accountTable, count: added.length }])
  const idOf = new Map(added.map((one, i) => [one, ids![i]!]))
  const unnumbered = added.filter(({ input }) => input.accountNumber === undefined)
  const numbers = await newAccountNumbers(
    tx,
    unnumbered.map(({ productID }) => productID!),
    new Set(given.flatMap(({ input }) => input.accountNumber ?? [])),
  )
  const numberOf = new Map(unnumbered.map((one, i) => [one, numbers[i]!]))
  return given.map((one) => {
    const { input, before, list } = one
    const others = {
      account_id: (before?.account_id as number | undefined) ?? idOf.get(one)!,
      biz_entity_id: list.entityID,
      product_id: one.productID!,
      // Number, currency and status stay as they were when left out; drpTypeID becomes None.
      account_number: input.accountNumber ?? before?.account_number ?? numberOf.get(one)!,
      currency_id: input.currencyID ?? before?.currency_id ?? currencies.get(one.productID!)!,
      account_status_id:
        input.accountStatusID ?? before?.account_status_id ?? lookups.AccountStatus.Active,
      drp_type_id: input.drpTypeID ?? lookups.DRPType.None,
    }
    return rowFrom(accountTable, input, others, before)
  })
}

async function productCurrencies(tx: Sql, given: readonly Given[]): Promise<Map<number, number>> {
  const ids = [...new Set(given.map(({ productID }) => productID!))]
  const rows = await tx.query<{ id: number; currencyID: number }>(sql`
    select product_id as id, currency_id as "currencyID" from product
    where product_id = any(${ids}::int[])`)
  if (rows.length < ids.length) throw lostRace('product') // one was deleted since it was identified
  return new Map(rows.map(({ id, currencyID }) => [id, currencyID]))
}

/**
 * Refuses to delete accounts with history, or to change the currency of accounts with transactions;
 * postings must be kept out of them.
 */
async function refuseWithHistory(tx: Tx, removed: readonly Row[], recounted: readonly Row[]) {
  const histories = await historiesOf(tx, [...removed, ...recounted].map(keyOf))
  const gone = new Set(removed.map((row) => row.account_id))
  const problems = histories.flatMap((one) => {
    const what = historyOf(one)
    if (gone.has(one.id)) return what ? [kept(one.id, what, 'it cannot be removed')] : []
    return one.transactions ? [kept(one.id, 'transactions', 'its currency cannot change')] : []
  })
  if (problems.length > 0) throw new Refusal(409, problems)
}

const keyOf = (row: Row): AccountKey => ({
  productID: Number(row.product_id),
  id: Number(row.account_id),
})

const inWords = {
  transactions: 'has transactions',
  entitlements: 'is or was entitled to a distribution',
  events: 'has events',
}

type Kept = keyof typeof inWords

function historyOf({ transactions, entitlements, events }: History): Kept | undefined {
  if (transactions) return 'transactions'
  if (entitlements) return 'entitlements'
  return events ? 'events' : undefined
}

const kept = (id: number, what: Kept, words: string): Problem => ({
  code: `has_${what}`,
  message: `The account ${id} ${inWords[what]}: ${words}.`,
})
