import sql, { empty, raw } from 'sql-template-tag'
import { standing } from '../../parties/account/standing.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { Shortfall } from './shortfall.ts'

/**
 * The only place where units change. Every change (a posting, an array, a distribution, an update,
 * a rollback) ends here as rows of one product, in a fixed number of SQL statements however many
 * rows there are.
 *
 * The SQL statements look each given row up in an index (lateral with limit 1, or the conflict of
 * an insert) and never join one list with another. The planner knows neither the length of a list
 * nor, in a young registry, the size of a table, and would compare every row with every other.
 */

/** The columns of a transaction to be written, as the SQL statements below read them. */
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

/** The ids of the locked accounts, each with the date of its newest transaction (null: none). */
export type Locked = Map<number, string | null>

type LockedRow = { id: number; lastDate: string | null }
const lockedColumns = raw('account_id as id, last_date as "lastDate"')

/**
 * Locks accounts of a product in the order of their ids; the lock of an account covers all its
 * holdings. Without `waits` it skips accounts that another database transaction has locked. An
 * account that never had a transaction has no row yet: if a row is missing, none is locked, the
 * result is undefined, and the caller must use `createAccounts`.
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
 * Locks accounts like `lockAccounts`, and creates the rows that are missing. To avoid deadlocks, no
 * row is created while the lock of an account with a higher id is held. An account with a row can
 * no longer be deleted, so a caller that writes no transaction for the account must undo this.
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

/** Creates or locks the rows one by one in order: the conflict of an insert locks the row. */
const createAndLock = async (tx: Tx, productID: number, wanted: number[]) =>
  lockedOf(
    await tx.query<LockedRow>(sql`
      insert into ledger_account as a (product_id, account_id)
      select ${productID}::int, id from unnest(${wanted}::int[]) id order by id
      on conflict (product_id, account_id) do update set last_date = a.last_date
      returning ${lockedColumns}`),
  )

/** Creates the missing rows before it locks any account, then locks the rows that are free. */
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
 * A new transaction id for each account of a list, with the current standing of the account. The
 * accounts must be locked: transactions of one day are ordered by id, so a later one needs a higher
 * id; and closing an account takes the same lock.
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
/** The columns of a set (`appendSet`), without those that only a request can fill. */
const setColumns = raw(`product_id, biz_transaction_id, biz_transaction_type_id, account_id,
  investment_id, transaction_date, investment_price, amount, quantity, corporate_action_id`)
const setValues = (productID: number) => sql`
  ${productID}, g.id, g.type_id, g.account_id, g.investment_id, g.transaction_date,
  g.investment_price, g.amount, g.quantity, g.corporate_action_id`
const closings = raw('closing_quantity, closing_amount, closing_cost, closing_gain')
const holdingColumns = raw(`product_id, account_id, investment_id, quantity, invested_amount,
        cost_amount, realised_gain`)

/** Writers insert the same external ids in the same order, so that they cannot deadlock. */
const inOneOrder = raw('order by g.external_id')

/**
 * Writes transactions that come after all others of their accounts: they start from the current
 * totals of the holdings and read no history. If a holding would become negative, nothing is
 * written and the shortfalls are returned.
 */
export const append = (tx: Tx, productID: number, postings: Fragment): Promise<Shortfall[]> =>
  tx.query<Shortfall>(sql`with ${appending(sql`${productID}`, postings)} select * from short`)

/**
 * The CTEs of `append`. `product` is one value, by which Citus sends the SQL statement to the node
 * of the product; or, where all products are on one machine, a column of the postings.
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

/** The first transaction of each holding after which the holding is below zero. */
export const shortOf = (states: Fragment) => sql`
  select distinct on (account_id, investment_id) account_id as "accountID",
    investment_id as "investmentID", id, transaction_date::text as date,
    trim_scale(-(state).quantity)::text as short
  from ${states} where (state).quantity < 0
  order by account_id, investment_id, transaction_date, id`

/**
 * Like `append`, for a set of any size with one posting per account, none of which takes units out:
 * the postings need no order and no holding can become short. For a million postings the window
 * functions of `append` cost more than the writing. A set may contain most of the accounts there
 * are, so it is joined with `ledger_account`. The row of an account whose units change is always
 * updated, because at-once.ts notices changes by the version of that row (see `locked` there).
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

/** The current totals of the holding of a posting `alias`, and the further columns `also`. */
export const heldBy = (alias: string, product: Fragment, also = empty) => sql`
  select h.quantity as held_quantity, h.invested_amount as held_amount,
    h.cost_amount as held_cost, h.realised_gain as held_gain ${also}
  from holding h
  where h.product_id = ${product} and h.account_id = ${raw(`${alias}.account_id`)}
    and h.investment_id = ${raw(`${alias}.investment_id`)} limit 1`

/** The closing figures after a posting g that takes no units out, from the current totals. */
export const closingsAfter = (quantity: string, amount: string) => {
  const invested = `case when ${quantity} > 0 then ${amount} else 0 end`
  return raw(`coalesce(g.held_quantity, 0) + ${quantity} as closing_quantity,
        coalesce(g.held_amount, 0) + ${invested} as closing_amount,
        coalesce(g.held_cost, 0) + ${invested} as closing_cost,
        coalesce(g.held_gain, 0) as closing_gain`)
}

/**
 * The closing figures after a posting g with signed figures, which may take units out: these take
 * their average cost along.
 */
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
 * CTEs that write postings g of any products on one machine, at most one per account. The postings
 * carry their closing figures and the ctids of their account and holding rows. Nobody else updates
 * those rows while the accounts are locked, so nothing is looked up again.
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
      from (${postings}) g where l.ctid = g.account_at and l.product_id = g.product_id
        and (${isWritten}) is not true)`

/**
 * Whether the row l of an account is of this transaction already, with the date it is to have:
 * others see that it was written anew as soon as they see any of this. To write anew what one has
 * written oneself takes twice as long, since the reference to the account is checked then.
 */
const isWritten = raw(`l.xmin = pg_current_xact_id_if_assigned()::xid
          and l.last_date = g.transaction_date`)

/** A CTE that inserts postings g, which carry their closing figures. */
export const insertsRows = (postings: Fragment) => sql`
    written as (
      insert into biz_transaction (${rowColumns}, ${closings})
      select ${rowValues(sql`g.product_id`)}, g.closing_quantity, g.closing_amount, g.closing_cost,
        g.closing_gain
      from (${postings}) g)`

/** A CTE that inserts the holdings that begin with postings g. */
export const insertsHoldings = (postings: Fragment) => sql`
    begun as (
      insert into holding (${holdingColumns})
      select g.product_id, g.account_id, g.investment_id, g.closing_quantity, g.closing_amount,
        g.closing_cost, g.closing_gain
      from (${postings}) g where g.held_at is null)`

/**
 * Writes transactions into the middle of their accounts' history, without closing figures;
 * `recount` must follow.
 */
export const insertUncounted = (tx: Tx, productID: number, postings: Fragment) =>
  insertInto(tx, productID, postings, {
    columns: rowColumns,
    values: rowValues(sql`${productID}`),
    order: inOneOrder,
  })

/** `insertUncounted` for a set of the kind that `appendSet` takes. */
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
