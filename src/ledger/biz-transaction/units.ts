import sql, { empty, raw } from 'sql-template-tag'
import { standing } from '../../parties/account/standing.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { Shortfall } from './shortfall.ts'

/**
 * Where units change, and nowhere else. Every change (a posting, an array, a distribution, an
 * update, a rollback) ends here as rows of one product, in a fixed number of statements whatever
 * their number.
 *
 * The statements look up what they are given row by row in an index (lateral, limit 1, or as the
 * conflict of an insert), and never join list to list: the planner knows neither how long a list is
 * nor, in a young registry, how large a table, and would compare every row with every other.
 */

/** A transaction to be written, as the statements below read it. */
export const postingColumns = {
  id: 'bigint',
  parent_id: 'bigint',
  type_id: 'smallint',
  account_id: 'int',
  investment_id: 'int',
  transaction_date: 'date',
  investment_price: 'numeric',
  amount: 'numeric',
  quantity: 'numeric',
  entry_fee_amount: 'numeric',
  external_id: 'text',
  comment: 'text',
  corporate_action_id: 'int',
  biz_event_id: 'bigint',
  carried_cost: 'numeric',
  conversion_method_id: 'smallint',
  conversion_factor: 'numeric',
  entry_fee_percentage: 'numeric',
  made_by_quantity: 'boolean',
} as const

/** The accounts that were locked, each with the date of its newest transaction. */
export type Locked = Map<number, string | null>

type LockedRow = { id: number; lastDate: string | null }
const lockedColumns = raw('account_id as id, last_date as "lastDate"')

/**
 * Locks the accounts of a product, in the order of their ids, and with them all their holdings; or
 * where it does not wait, those that nobody else holds. An account that never had a transaction has
 * no row yet: where one is missing none is locked, and `createAccounts` is to follow.
 */
export async function lockAccounts(
  tx: Tx,
  productID: number,
  accountIDs: readonly number[],
  waits = true,
): Promise<Locked | undefined> {
  const wanted = [...new Set(accountIDs)]
  const own = sql`product_id = ${productID} and account_id = any(${wanted}::int[])`
  const locked = lockedOf(
    await tx.query<LockedRow>(sql`
      select ${lockedColumns} from ledger_account
      where ${own} and (select count(*) from ledger_account where ${own}) = ${wanted.length}
      order by account_id for update ${waits ? empty : skipLocked}`),
  )
  return locked.size === wanted.length || (!waits && locked.size > 0) ? locked : undefined
}

/**
 * As `lockAccounts`, where rows are missing: they are created. Nobody creates a row while holding
 * the lock of an account further on, since it could be waited for there. An account with a row
 * cannot be deleted any more, so whoever ends up without a transaction for it undoes this.
 */
export async function createAccounts(
  tx: Tx,
  productID: number,
  accountIDs: readonly number[],
  waits = true,
): Promise<Locked> {
  const wanted = [...new Set(accountIDs)]
  return waits ? createAndLock(tx, productID, wanted) : createThenTry(tx, productID, wanted)
}

/** One by one in order, whether there or not: the conflict of an insert is a lock. */
const createAndLock = async (tx: Tx, productID: number, wanted: number[]) =>
  lockedOf(
    await tx.query<LockedRow>(sql`
      insert into ledger_account as a (product_id, account_id)
      select ${productID}::int, id from unnest(${wanted}::int[]) id order by id
      on conflict (product_id, account_id) do update set last_date = a.last_date
      returning ${lockedColumns}`),
  )

/** Those that are missing first, holding nothing yet; then whatever is free. */
async function createThenTry(tx: Tx, productID: number, wanted: number[]) {
  await tx.query(sql`
    insert into ledger_account (product_id, account_id)
    select ${productID}::int, id from unnest(${wanted}::int[]) id
    where not exists (select 1 from ledger_account a
      where a.product_id = ${productID} and a.account_id = id)
    order by id on conflict do nothing`)
  return lockedOf(
    await tx.query<LockedRow>(sql`
      select ${lockedColumns} from ledger_account
      where product_id = ${productID} and account_id = any(${wanted}::int[])
      order by account_id for update ${skipLocked}`),
  )
}

const skipLocked = raw('skip locked')
const lockedOf = (rows: LockedRow[]): Locked =>
  new Map(rows.map(({ id, lastDate }) => [id, lastDate]))

export type NewRow = { id: number; account: 'open' | 'suspended' | 'closed' }

/**
 * Ids for new rows, one for each account of a list, and how the accounts stand now. Asked for under
 * the lock: of two transactions of a day the later is behind, and whoever closes an account locks
 * it too.
 */
export const newRows = (tx: Tx, accountIDs: readonly number[]): Promise<NewRow[]> =>
  tx.query<NewRow>(sql`
    select nextval('biz_transaction_biz_transaction_id_seq') as id, s.standing as account
    from (
      select x.standing from unnest(${accountIDs}::int[]) with ordinality g (account_id, place)
      cross join lateral (
        select ${standing('a', 'e')} as standing
        from account a join biz_entity e on e.biz_entity_id = a.biz_entity_id
        where a.account_id = g.account_id limit 1) x
      order by g.place) s`)

export const zeroState = raw('row(0, 0, 0, 0)::holding_state')
const rowColumns = raw(`product_id, biz_transaction_id, external_biz_transaction_id,
  biz_transaction_type_id, parent_biz_transaction_id, account_id, investment_id, transaction_date,
  investment_price, amount, quantity, entry_fee_amount, comment, corporate_action_id, biz_event_id,
  carried_cost, conversion_method_id, conversion_factor, entry_fee_percentage, made_by_quantity`)
const rowValues = (product: Fragment) => sql`
  ${product}, g.id, g.external_id, g.type_id, g.parent_id, g.account_id, g.investment_id,
  g.transaction_date, g.investment_price, g.amount, g.quantity, g.entry_fee_amount, g.comment,
  g.corporate_action_id, g.biz_event_id, g.carried_cost, g.conversion_method_id,
  g.conversion_factor, g.entry_fee_percentage, g.made_by_quantity`
/** Of a set: what a request alone can ask for is not there. */
const setColumns = raw(`product_id, biz_transaction_id, biz_transaction_type_id, account_id,
  investment_id, transaction_date, investment_price, amount, quantity, corporate_action_id`)
const setValues = (productID: number) => sql`
  ${productID}, g.id, g.type_id, g.account_id, g.investment_id, g.transaction_date,
  g.investment_price, g.amount, g.quantity, g.corporate_action_id`
const closings = raw('closing_quantity, closing_amount, closing_cost, closing_gain')
const holdingColumns = raw(`product_id, account_id, investment_id, quantity, invested_amount,
        cost_amount, realised_gain`)

/** Two writers of the same external ids meet at the first of them, and not crosswise. */
const inOneOrder = raw('order by g.external_id')

/**
 * Writes transactions that come after all their accounts have: they start from the totals on hand
 * and read no history. When a holding would be negative nothing is written.
 */
export const append = (tx: Tx, productID: number, postings: Fragment): Promise<Shortfall[]> =>
  tx.query<Shortfall>(sql`with ${appending(sql`${productID}`, postings)} select * from short`)

/**
 * The same as a list of CTEs. The product is one value, which sends the statement to where the
 * product lives; or where all live on one machine, a column of the postings.
 */
export const appending = (product: Fragment, postings: Fragment): Fragment => sql`
    stated as materialized (
      select g.*,
        holding_state(
          case when h.account_id is null then ${zeroState} else
            row(h.quantity, h.invested_amount, h.cost_amount, h.realised_gain)::holding_state end,
          g.quantity, g.amount, minor_units(i.currency_id), g.carried_cost) over own as state,
        row_number() over (partition by g.account_id order by g.transaction_date desc, g.id desc)
          as from_last,
        row_number() over (partition by g.account_id, g.investment_id
          order by g.transaction_date desc, g.id desc) as from_last_of_holding,
        -- A payment moves no units: its holding is left alone, if there is one.
        h.account_id is null or bool_or(g.quantity <> 0) over (
          partition by g.account_id, g.investment_id) as moves
      from (${postings}) g
      join investment i on i.investment_id = g.investment_id
      left join lateral (
        select * from holding
        where product_id = ${product} and account_id = g.account_id
          and investment_id = g.investment_id limit 1) h on true
      window own as (partition by g.account_id, g.investment_id order by g.transaction_date, g.id)),
    short as (${shortOf(sql`stated`)}),
    written as (
      insert into biz_transaction (${rowColumns}, ${closings})
      select ${rowValues(product)}, (g.state).quantity, (g.state).invested, (g.state).cost,
        (g.state).gain
      from stated g where not exists (select 1 from short) ${inOneOrder}),
    held as (
      insert into holding (${holdingColumns})
      select ${product}, account_id, investment_id, (state).quantity, (state).invested,
        (state).cost, (state).gain
      from stated g
      where from_last_of_holding = 1 and moves and not exists (select 1 from short)
      on conflict (product_id, account_id, investment_id) do update
        set quantity = excluded.quantity, invested_amount = excluded.invested_amount,
          cost_amount = excluded.cost_amount, realised_gain = excluded.realised_gain),
    dated as (
      insert into ledger_account (product_id, account_id, last_date)
      select ${product}, account_id, transaction_date
      from stated g where from_last = 1 and not exists (select 1 from short)
      on conflict (product_id, account_id) do update set last_date = excluded.last_date)`

/** The first transaction of each holding after which it is below zero. */
export const shortOf = (states: Fragment) => sql`
  select distinct on (account_id, investment_id) account_id as "accountID",
    investment_id as "investmentID", id, transaction_date::text as date,
    trim_scale(-(state).quantity)::text as short
  from ${states} where (state).quantity < 0
  order by account_id, investment_id, transaction_date, id`

/**
 * As `append`, for a set of any size with one posting for each of its accounts, none of which takes
 * units out: there is no order among them to find and nothing that could be short. A million of
 * them through `append` spend more on its windows than on being written. A set may be most of the
 * accounts there are, so it is joined with them. An account whose units change is always written
 * anew: see `locked` in at-once.ts.
 */
export const appendSet = (tx: Tx, productID: number, postings: Fragment) => {
  const product = sql`${productID}`
  // A payment moves no units: its holding is left alone, if there is one.
  return tx.query(sql`
    with written as (
      insert into biz_transaction (${setColumns}, ${closings})
      select ${setValues(productID)}, ${closingsAfter('g.quantity', 'g.amount')}
      from (
        select p.*, h.* from (${postings}) p
        left join lateral (${heldBy('p', product)}) h on true) g
      returning ${setReturned}),
    held as (
      insert into holding (${holdingColumns})
      select ${product}, account_id, investment_id, closing_quantity, closing_amount,
        closing_cost, closing_gain
      from written g
      where g.quantity > 0 or not exists (
        select 1 from holding h where h.product_id = ${product} and h.account_id = g.account_id
          and h.investment_id = g.investment_id)
      on conflict (product_id, account_id, investment_id) do update
        set quantity = excluded.quantity, invested_amount = excluded.invested_amount,
          cost_amount = excluded.cost_amount)
    update ledger_account l set last_date = w.transaction_date
    from written w where l.product_id = ${productID} and l.account_id = w.account_id
      and (w.quantity > 0 or l.last_date is distinct from w.transaction_date)`)
}

const setReturned = raw(`account_id, investment_id, transaction_date, quantity, closing_quantity,
  closing_amount, closing_cost, closing_gain`)

/** The totals on hand of the holding that a posting under an alias is for; and what else of it. */
export const heldBy = (alias: string, product: Fragment, also = empty) => sql`
  select h.quantity as held_quantity, h.invested_amount as held_amount,
    h.cost_amount as held_cost, h.realised_gain as held_gain ${also}
  from holding h
  where h.product_id = ${product} and h.account_id = ${raw(`${alias}.account_id`)}
    and h.investment_id = ${raw(`${alias}.investment_id`)} limit 1`

/** The totals after a posting g that takes no units out, from those on hand. */
export const closingsAfter = (quantity: string, amount: string) => {
  const invested = `case when ${quantity} > 0 then ${amount} else 0 end`
  return raw(`coalesce(g.held_quantity, 0) + ${quantity} as closing_quantity,
        coalesce(g.held_amount, 0) + ${invested} as closing_amount,
        coalesce(g.held_cost, 0) + ${invested} as closing_cost,
        coalesce(g.held_gain, 0) as closing_gain`)
}

/** The same of one that may take units out, as it is signed: their cost goes along, by average. */
export const closingsAfterEither = (quantity: string, amount: string, decimals: string) => {
  const sold = `cost_of_sold(g.held_cost, g.held_quantity, ${quantity}, ${decimals})`
  return raw(`coalesce(g.held_quantity, 0) + ${quantity} as closing_quantity,
        coalesce(g.held_amount, 0) + ${amount} as closing_amount,
        case when ${quantity} < 0 then g.held_cost - ${sold}
          else coalesce(g.held_cost, 0) + ${amount} end as closing_cost,
        case when ${quantity} < 0 then g.held_gain - ${amount} - ${sold}
          else coalesce(g.held_gain, 0) end as closing_gain`)
}

/**
 * Postings g of any products on one machine, each of another account; as a list of CTEs. They bring
 * their closings, and the places in their tables of the rows of their accounts and holdings, which
 * nobody moves while the accounts are locked: nothing is looked up again.
 */
export const appendingOnePerAccount = (postings: Fragment) => sql`
    ${insertsRows(postings)},
    ${insertsHoldings(postings)},
    held as (
      update holding h set quantity = g.closing_quantity, invested_amount = g.closing_amount,
        cost_amount = g.closing_cost, realised_gain = g.closing_gain
      from (${postings}) g where h.ctid = g.held_at and h.product_id = g.product_id),
    dated as (
      update ledger_account l set last_date = g.transaction_date
      from (${postings}) g where l.ctid = g.account_at and l.product_id = g.product_id)`

/** Postings g with their closings. */
export const insertsRows = (postings: Fragment) => sql`
    written as (
      insert into biz_transaction (${rowColumns}, ${closings})
      select ${rowValues(sql`g.product_id`)}, g.closing_quantity, g.closing_amount, g.closing_cost,
        g.closing_gain
      from (${postings}) g)`

/** The holdings that begin with them. */
export const insertsHoldings = (postings: Fragment) => sql`
    begun as (
      insert into holding (${holdingColumns})
      select g.product_id, g.account_id, g.investment_id, g.closing_quantity, g.closing_amount,
        g.closing_cost, g.closing_gain
      from (${postings}) g where g.held_at is null)`

/** Writes transactions into the midst of their accounts' history; `recount` must follow. */
export const insertUncounted = (tx: Tx, productID: number, postings: Fragment) =>
  insertInto(tx, productID, postings, {
    columns: rowColumns,
    values: rowValues(sql`${productID}`),
    order: inOneOrder,
  })

/** The same for a set, as `appendSet` takes it. */
export const insertSetUncounted = (tx: Tx, productID: number, postings: Fragment) =>
  insertInto(tx, productID, postings, {
    columns: setColumns,
    values: setValues(productID),
    order: empty,
  })

type Rows = { columns: Fragment; values: Fragment; order: Fragment }

const insertInto = (
  tx: Tx,
  productID: number,
  postings: Fragment,
  { columns, values, order }: Rows,
) =>
  tx.query(sql`
    with given as materialized (${postings}),
    held as (
      insert into holding (${holdingColumns})
      select distinct ${productID}::int, account_id, investment_id, 0, 0, 0, 0 from given
      on conflict do nothing)
    insert into biz_transaction (${columns}) select ${values} from given g ${order}`)
