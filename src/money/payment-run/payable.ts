import sql, { raw } from 'sql-template-tag'
import { idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import type { Format } from './schema.ts'

const types = lookups.BizTransactionType

/** Which transactions a run looks for, and how it is going to pay. */
export type Terms = {
  productID: number
  runID: number
  sources: readonly string[]
  corporateActionIDs: readonly number[] | null
  currencyID: number
  upToDate: string | null
  processingDate: string
  today: string
  format: Format
  minimum: string
  /** How many days ago, at least, the last change of bank details must be. */
  coolOffDays: number
  /** Pay only to present bank details: returned money is not sent to the copied ones again. */
  isToPresent?: boolean
}

export async function coolOffDaysOf(handle: Sql, productID: number): Promise<number> {
  const [row] = await handle.query<{ days: number }>(sql`
    select bank_detail_cool_off_days as days from product where product_id = ${productID}`)
  return row!.days
}

const sourceOf = raw(`case t.biz_transaction_type_id when ${types.Redemption} then 'Redemption'
  when ${types['Residual payment']} then 'Residual' else 'Distribution' end`)

/**
 * The transactions of a product that pay money out and are in no run yet. A redemption is payable
 * from its day on; a payment of a distribution waits for a run whose file the bank processes on its
 * day or later.
 */
export const payable = (terms: Terms): Fragment => sql`
  select t.biz_transaction_id, t.account_id, t.corporate_action_id, abs(t.amount) as amount,
    ${sourceOf} as source
  from biz_transaction t
  join investment i on i.investment_id = t.investment_id
  where t.product_id = ${terms.productID}
    and t.biz_transaction_type_id in
      ${raw(idsOf('Redemption', 'Distribution payment', 'Residual payment'))}
    and ${sourceOf} = any(${terms.sources}::text[]) and t.amount <> 0 and ${raw(counts('t'))}
    and i.currency_id = ${terms.currencyID}
    and t.transaction_date <= coalesce(${terms.upToDate}::date, 'infinity')
    and t.transaction_date <= case t.biz_transaction_type_id
      when ${types.Redemption} then ${terms.today}::date else ${terms.processingDate}::date end
    and (${terms.corporateActionIDs}::int[] is null
      or t.corporate_action_id = any(${terms.corporateActionIDs}::int[]))
    and not exists (select 1 from payment_item m where m.product_id = ${terms.productID}
      and m.biz_transaction_id = t.biz_transaction_id)`

/**
 * Adds the payee to payable rows: the present bank details, preferably in the run's currency, or,
 * if there are none any more, the details copied at payment.
 */
const withPayee = (
  { productID, currencyID, isToPresent = false }: Terms,
  rows: Fragment,
): Fragment => sql`
  select p.*, a.account_status_id, n.biz_entity_status_id,
    coalesce(nullif(trim(case when o.is_copied then c.payee_name else d.account_name end), ''),
      n.name) as payee_name,
    case when o.is_copied then c.payee_bsb else d.bsb end as payee_bsb,
    trim(case when o.is_copied then c.payee_account_number else d.account_number end)
      as payee_account_number,
    case when o.is_copied then c.payee_iban else d.iban end as payee_iban,
    d.swift as payee_swift,
    (d.updated_date at time zone q.time_zone)::date as payee_changed,
    coalesce(c.tax_amount, 0) as tax_amount
  from (${rows}) p
  join account a on a.account_id = p.account_id
  join biz_entity n on n.biz_entity_id = a.biz_entity_id
  join product q on q.product_id = a.product_id
  left join lateral (
    select d.* from payment_detail d
    where d.biz_entity_id = a.biz_entity_id
      and case when p.source = 'Redemption' then d.is_for_redemption else d.is_for_distribution end
    order by coalesce(d.currency_id, ${currencyID}::int) = ${currencyID}::int desc,
      d.is_default desc, d.payment_detail_id limit 1) d on true
  left join lateral (
    select e.payee_name, e.payee_bsb, e.payee_account_number, e.payee_iban, e.tax_amount
    from entitlement e
    where e.product_id = ${productID} and e.corporate_action_id = p.corporate_action_id
      and e.account_id = p.account_id and e.payment_transaction_id = p.biz_transaction_id
    union all
    select r.payee_name, r.payee_bsb, r.payee_account_number, r.payee_iban, 0
    from residual_payment r
    where r.product_id = ${productID} and r.biz_transaction_id = p.biz_transaction_id
    limit 1) c on true
  cross join lateral (
    select d.payment_detail_id is null and not ${isToPresent}::boolean as is_copied) o`

const goodBsb = `p.payee_bsb ~ '^[0-9]{3}-?[0-9]{3}$'
  and replace(p.payee_bsb, '-', '') not in ('000000', '999999')`

/** Why a format cannot pay a payee, in SQL; an account number that does not fit is never cut. */
const unfit: Record<Format, string> = {
  ABA: `case
    when p.payee_bsb is null or p.payee_account_number is null then 'no_bank_details'
    when (${goodBsb}) is not true then 'invalid_bsb'
    when p.payee_account_number !~ '^[0-9 -]{1,9}$' or p.payee_account_number !~ '[1-9]'
      then 'invalid_account'
    when folded(lower(p.payee_name)) !~ '[a-z0-9]' then 'invalid_name' end`,
  'pain.001': `case
    when p.payee_iban is not null then null
    when p.payee_bsb is null or p.payee_account_number is null then 'no_bank_details'
    when (${goodBsb}) is not true then 'invalid_bsb'
    when length(p.payee_account_number) not between 1 and 34 then 'invalid_account' end`,
  'cheque list': `null::text`,
}

/** A payment record of an ABA file has ten digits for its cents, and eight for its cents of tax. */
const mostAmount = '99999999.99'
const mostTax = '999999.99'

/** Bank details just changed may be an impostor's; a cheque goes to no bank account. */
const tooNew = ({ format, today, coolOffDays }: Terms) =>
  format === 'cheque list'
    ? sql`null`
    : sql`case when p.payee_changed > ${today}::date - ${coolOffDays}::int
        then 'recently_changed' end`

/** Payable rows with their payee and, for those that cannot be paid, the reason (`code`). */
export function judged(terms: Terms, rows: Fragment): Fragment {
  const { AccountStatus, BizEntityStatus } = lookups
  const isAba = terms.format === 'ABA'
  const limit = isAba ? mostAmount : '1e30'
  const taxLimit = isAba ? mostTax : '1e30'
  return sql`
    select g.*, case when g.flaw is not null then g.flaw
      when g.together < ${terms.minimum}::numeric then 'below_minimum'
      when g.together > ${limit}::numeric or g.tax_together > ${taxLimit}::numeric
        then 'amount_too_large' end as code
    from (
      select p.*,
        sum(p.amount) filter (where p.flaw is null) over same_payee as together,
        sum(p.tax_amount) filter (where p.flaw is null) over same_payee as tax_together
      from (
        select p.*, md5(concat_ws('|', p.payee_name, p.payee_bsb, p.payee_account_number,
            p.payee_iban, p.source = 'Redemption')) as payee_key,
          case when p.account_status_id = ${AccountStatus.Suspended}
              or p.biz_entity_status_id = ${BizEntityStatus.Inactive} then 'account_suspended'
            else coalesce(${raw(unfit[terms.format])}, ${tooNew(terms)}) end as flaw
        from (${withPayee(terms, rows)}) p) p
      window same_payee as (partition by p.account_id, p.payee_key)) g`
}
