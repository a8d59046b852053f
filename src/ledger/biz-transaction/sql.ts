import sql, { empty, join, raw } from 'sql-template-tag'
import { ledgerScope } from '../../catalogue/product/sql.ts'
import { asksFromAccount, pageFromAccount } from '../../parties/account/list-from.ts'
import { accountNames } from '../../parties/account/names.ts'
import type { Actor } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { askedOfOthers, pageByOthers, type Relation } from '../../platform/sql/by-others.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { ofOnly, onlyProduct, page, renderPage, type Wanted } from '../../platform/sql/paging.ts'
import {
  arrayOf,
  jsonText,
  listed,
  ofFields,
  recordOf,
  recordOfValues,
  type Shown,
  shownFields,
  utc,
  valuesOf,
} from '../../platform/sql/render.ts'
import { plainText } from '../../platform/sql/retry-keys.ts'
import { byProduct, inOneProduct } from '../../platform/sql/spread.ts'
import { asksSince, pageSince } from './by-date.ts'
import { createdBetween, pageCreatedBetween } from './by-moment.ts'
import { type Known, ofKind } from './kinds.ts'
import { withShiftedClosings } from './marks.ts'
import {
  accountFilters,
  BizTransaction,
  ownerFilters,
  type TransactionQuery,
  transactionFilters,
  transactionInvestmentFilters,
} from './schema.ts'

/** The names of a lookup by id, as an array literal: cheaper than a join for every row. */
export const nameArray = (values: Record<string, number>, written = (name: string) => name) => {
  const names = Object.entries(values).sort(([, a], [, b]) => a - b)
  return `(array[${names.map(([name]) => `'${written(name)}'`).join(', ')}])`
}

const quoted = (name: string) => `"${name}"`
const nameOfKind = (of: (kind: Known) => string) => ({
  json: ofKind('t.biz_transaction_type_id', (kind) => quoted(of(kind))),
})
const statusNames = nameArray(lookups.BizTransactionStatus, quoted)

const transactionFields = (showClosing: boolean) =>
  shownFields(BizTransaction, 't', {
    typeName: nameOfKind(({ name }) => name),
    movementReasonCode: nameOfKind(({ code }) => code),
    transactionDate: { json: `rtrim(${jsonText('t.transaction_date')}, '"') || 'T00:00:00Z"'` },
    externalProductId: { json: 'i.external_product_id' },
    externalAccountId: 'a.external_account_id',
    accountNumber: 'a.account_number',
    bizEntityName: 'a.biz_entity_name',
    externalInvestmentId: { json: 'i.external_investment_id' },
    securityCode: { json: 'i.security_code' },
    investmentName: { json: 'i.investment_title' },
    externalCorporateActionId: 'd.external_corporate_action_id',
    corporateActionName: 'd.name',
    statusName: { json: `${statusNames}[t.biz_transaction_status_id]` },
    transactionClosingAmount: showClosing ? 'o.closing_amount' : 'null::numeric',
    transactionClosingQuantity: showClosing ? 'o.closing_quantity' : 'null::numeric',
    accountClosingAmount: showClosing ? 's.amount' : 'null::numeric',
    accountClosingQuantity: showClosing ? 's.quantity' : 'null::numeric',
  })
const withClosing = transactionFields(true)
const withoutClosing = transactionFields(false)

/** The fields that transactions show of investment i and product p, as JSON; many share them. */
export const sharedNames = raw(`
  ${jsonText('i.external_investment_id')} as external_investment_id,
  ${jsonText('i.security_code')} as security_code, ${jsonText('i.name')} as investment_title,
  ${jsonText('p.external_product_id')} as external_product_id`)

/**
 * Joins the records whose fields a transaction t shows, looked up row by row. With old statistics,
 * from when there was only one product, the planner would otherwise read all their rows for each
 * transaction.
 */
const withNames = sql`
  ${accountNames('t')}
  cross join lateral (
    select ${sharedNames}, i.currency_id
    from investment i join product p on p.product_id = i.product_id
    where i.investment_id = t.investment_id limit 1) i
  left join distribution d on d.product_id = t.product_id
    and d.corporate_action_id = t.corporate_action_id`

/**
 * The closing figures right after a transaction t: of its holding, and of its account, which adds
 * the account's other holdings at that time; for money only those in the currency of the
 * transaction's investment i. This reads each holding, since an account has few.
 */
const withClosings = sql`
  ${withShiftedClosings}
  left join lateral (
    select coalesce(o.closing_quantity + sum(c.closing_quantity), o.closing_quantity) as quantity,
      coalesce(o.closing_amount + sum(c.closing_amount) filter (where i.currency_id = (
        select j.currency_id from investment j where j.investment_id = h.investment_id)),
        o.closing_amount) as amount
    from holding h
    cross join lateral (
      select b.closing_quantity, b.closing_amount from transaction_line b
      where b.product_id = h.product_id and b.account_id = h.account_id
        and b.investment_id = h.investment_id and ${raw(counts('b'))}
        and (b.transaction_date, b.biz_transaction_id)
          <= (t.transaction_date, t.biz_transaction_id)
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1) c
    where h.product_id = t.product_id and h.account_id = t.account_id
      and h.investment_id <> t.investment_id) s on ${raw(counts('t'))}`

/**
 * The closing figures in a read of the past (KnownAt), which are counted from the first transaction
 * on: once for each account of the page. An account has the sum of what its transactions moved.
 */
const withClosingsOf = (page: Fragment) => sql`
  left join (
    select l.product_id, l.biz_transaction_id, l.closing_quantity, l.closing_amount,
      sum(l.quantity_moved) over account as quantity, sum(l.amount_moved) over money as amount
    from (
      select b.*, j.currency_id,
        b.closing_quantity - lag(b.closing_quantity, 1, 0) over own as quantity_moved,
        b.closing_amount - lag(b.closing_amount, 1, 0) over own as amount_moved
      from (select distinct product_id, account_id from (${page}) t) a
      cross join lateral (
        select * from transaction_line b
        where b.product_id = a.product_id and b.account_id = a.account_id
          and ${raw(counts('b'))} offset 0) b
      join investment j on j.investment_id = b.investment_id
      window own as (partition by b.product_id, b.account_id, b.investment_id
        order by b.transaction_date, b.biz_transaction_id)) l
    window account as (partition by l.product_id, l.account_id
        order by l.transaction_date, l.biz_transaction_id),
      money as (partition by l.product_id, l.account_id, l.currency_id
        order by l.transaction_date, l.biz_transaction_id)) s
    on s.product_id = t.product_id and s.biz_transaction_id = t.biz_transaction_id
  cross join lateral (select s.closing_quantity, s.closing_amount) o`

const ofAccount = { key: 't.product_id, t.account_id', named: 'a.product_id, a.account_id' }
const relations: Relation[] = [
  { filters: accountFilters, ...ofAccount, from: 'account a' },
  {
    filters: ownerFilters,
    ...ofAccount,
    from: 'account a join biz_entity e using (biz_entity_id)',
  },
  {
    filters: transactionInvestmentFilters,
    key: 't.product_id, t.investment_id',
    named: 'i.product_id, i.investment_id',
    from: 'investment i',
    isBroad: true,
  },
]

const parts = {
  filters: { ExternalBizTransactionId: transactionFilters.ExternalBizTransactionId },
  from: 'biz_transaction t',
}

const stored = { table: 'biz_transaction', id: 't.biz_transaction_id' }

export async function readTransactions(
  handle: Sql,
  actor: Actor,
  query: TransactionQuery,
): Promise<Shown> {
  const { Status, ShowClosing, KnownAt } = query
  const own = join(
    [conditions(transactionFilters, query), ...(Status ? [statusIs(Status)] : [])],
    ' and ',
  )
  const asked = [own, ...askedOfOthers(relations, query)]
  const products = ledgerScope(actor, query, 't.product_id')
  const created = KnownAt ? undefined : createdBetween(query)
  const isSince = !KnownAt && asksSince(query)
  const isFromAccount = asksFromAccount(query)
  const needsOne = isSince || isFromAccount || created
  const only = needsOne ? await onlyProduct(handle, products) : undefined
  const scope = ofOnly(products, only)
  const quickly = (wanted: Wanted, within: Fragment) => {
    const near = only === undefined ? sql`true` : within
    if (created) return pageCreatedBetween(created, { within, near }, wanted)
    if (only === undefined) return undefined
    if (isFromAccount) return pageFromAccount(wanted, { ...stored, within, productID: only, query })
    return isSince ? pageSince(within, query, wanted) : undefined
  }
  const fields = ShowClosing ? withClosing : withoutClosing
  const closings = KnownAt ? withClosingsOf : () => withClosings
  return renderPage(handle, query, {
    key: ['bizTransactionID'],
    scope,
    rows: (wanted, within) =>
      quickly(wanted, within) ??
      pageByOthers(wanted, {
        alias: 't',
        order: 't.biz_transaction_id',
        rows: sql`select t.* from biz_transaction t where ${within}`,
        own,
        parts: { ...parts, within },
        relations,
        query,
        whole: sql`
      select t.* from biz_transaction t
      where ${join([within, ...asked], ' and ')}
      ${page(wanted, 'biz_transaction t', 't.biz_transaction_id')}`,
      }),
    show: (rows) =>
      ofFields(
        fields,
        sql`
        select ${listed(fields)} from (${rows}) t ${withNames}
        ${ShowClosing ? closings(rows) : empty} order by t.biz_transaction_id`,
      ),
  })
}

/** A literal, no parameter: the planner uses the partial index of rare statuses only for that. */
const statusIs = (status: keyof typeof lookups.BizTransactionStatus) =>
  raw(`t.biz_transaction_status_id = ${lookups.BizTransactionStatus[status]}`)

/** The rows t of a select with one more column, `shown`: the JSON that answers show of the row. */
const shownRows = (rows: Fragment): Fragment => sql`
  select t.*, ${recordOf(withoutClosing)} as shown from (${rows}) t ${withNames}`

/** The createdDate of rows being written, worked out once and not for every row. */
const justNow = `(select ${utc('now()')})`
const asWritten = withoutClosing.map((field) =>
  field.name === 'createdDate' ? { ...field, source: justNow } : field,
)

/**
 * `shownRows` for rows that are just being written; the caller joins the records they name in
 * `names`. With `isPacked`, `shown` has only the values, for `answerOfValues` to make an answer of.
 */
export const writtenRows = (rows: Fragment, names: Fragment, isPacked: boolean): Fragment => sql`
  select t.*, ${isPacked ? packed : recordOf(asWritten)} as shown from (${rows}) t ${names}`

/**
 * The fields of packed values, by the letter that stands before the values: an answer stored before
 * an upgrade may be replayed after it. When the fields change, add a new letter in front and keep
 * the others.
 */
const forms: Readonly<Record<string, string>> = {
  a: `bizTransactionID externalBizTransactionId bizTransactionTypeID typeName movementReasonCode
    parentBizTransactionID transactionDate productID externalProductId accountID externalAccountId
    accountNumber bizEntityName investmentID externalInvestmentId securityCode investmentName
    investmentPrice comment corporateActionID externalCorporateActionId corporateActionName amount
    quantity entryFeeAmount transactionClosingAmount transactionClosingQuantity
    accountClosingAmount accountClosingQuantity createdDate updatedDate bizTransactionStatusID
    statusName`,
}
const namesOfForm = new Map(
  Object.entries(forms).map(([form, names]) => [form, names.split(/\s+/)] as const),
)
const [[form, present]] = [...namesOfForm] as [[string, string[]]]
if (present.join() !== withoutClosing.map(({ name }) => name).join())
  throw new Error('The fields of transactions have changed: forms needs a letter for them.')
const packed = sql`${raw(`'${form}='`)} || ${valuesOf(asWritten)}`

/** The answer about one transaction, a list of one record, from its packed values. */
export const answerOfValues = (text: string) =>
  `[${recordOfValues(namesOfForm.get(text[0]!)!, text.slice(2))}]`

/** A stored answer as the caller gets it, whether it was packed or not. */
export const unpackKept = (kept: string) =>
  kept[1] === '=' ? plainText(1, answerOfValues(kept)) : kept

type Asked = { request: number; productID: number; id: number }

/** The transactions of several requests: for each request a JSON array in the given order. */
export async function renderPerRequest(handle: Sql, wanted: Asked[]): Promise<Map<number, string>> {
  const places = wanted.map((one, place) => ({ ...one, place }))
  const records: Rendered[] = []
  for (const [productID, own] of byProduct(places))
    records.push(...(await renderOfProduct(handle, productID, own)))
  const inOrder = records.sort((a, b) => a.place - b.place)
  const texts = new Map<number, string[]>(wanted.map(({ request }) => [request, []]))
  for (const { request, json } of inOrder) texts.get(request)?.push(json)
  return new Map([...texts].map(([request, own]) => [request, arrayOf(own)]))
}

type Rendered = { request: number; place: number; json: string }

const renderOfProduct = (handle: Sql, productID: number, wanted: (Asked & { place: number })[]) =>
  handle.query<Rendered>(
    inOneProduct(
      sql`
      select r.request, r.place, r.shown as json from (${shownRows(sql`
        select t.*, w.request, w.place
        from unnest(${wanted.map(({ request }) => request)}::int[],
          ${wanted.map(({ place }) => place)}::int[], ${wanted.map(({ id }) => id)}::bigint[])
          w (request, place, id)
        cross join lateral (
          select * from biz_transaction
          where product_id = ${productID} and biz_transaction_id = w.id limit 1) t`)}) r`,
      productID,
    ),
  )
