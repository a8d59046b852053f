import sql from 'sql-template-tag'
import { Type } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { decimal, nullable } from '../../platform/shape/fields.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { defaultPageSize } from '../../platform/sql/paging.ts'
import { type Answer, many } from '../../platform/sql/render.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import { isClosed } from './closed.ts'
import {
  entitlingOf,
  refuseNothing,
  refuseUndeclarable,
  refuseUnshared,
  totalRate,
} from './declare.ts'
import { methodOf, selectEntitlements } from './entitlement.ts'
import { EntitledAccount, type PreviewRequest } from './schema.ts'
import { amountsOf, comparing, comparison, lastBefore, SinceLast } from './since-last.ts'
import { identifyDistribution, readDistribution, selectEntitled } from './sql.ts'
import { drpOfNet, taxTermsOf, withheldOf } from './withhold.ts'
import { refuseTooLarge } from './words.ts'

const Exception = Type.Object({
  accountID: Type.Integer(),
  accountNumber: Type.String(),
  code: Type.String({ enum: ['no_payment_detail', 'closed_account'] }),
})

export const DistributionPreview = Type.Object(
  {
    accountCount: Type.Integer(),
    units: decimal(),
    grossAmount: decimal(),
    taxAmount: {
      ...decimal(),
      description: 'The tax that Payment would withhold if it were made now.',
    },
    drpAmount: decimal(),
    cashAmount: decimal(),
    taxComponents: Type.Array(Type.Object({ taxComponentName: Type.String(), amount: decimal() })),
    exceptionCount: Type.Integer(),
    exceptions: Type.Array(Exception),
    accounts: Type.Array(EntitledAccount),
    sinceLast: {
      ...nullable(SinceLast),
      description: 'Only with compareWithLast; null if the class had no distribution before.',
    },
  },
  { $id: 'DistributionPreview' },
)

type Previewed = { json: string; gross: string; accounts: number }

const declared = sql`select * from declared`
const noTax = sql`select * from withholding where false`

/** Entitlements as after the payment: tax withheld, and closed accounts paid in cash. */
const afterTax = (decimals: number) => sql`
  select d.*, d.gross_amount - d.tax_amount - d.drp_amount as cash_amount
  from (
    select e.product_id, e.corporate_action_id, e.account_id, e.investment_id, e.units,
      e.unit_days, e.pre_calculated, e.drp_type_id, e.drp_value, e.gross_amount,
      e.component_amounts, w.tax as tax_amount,
      case when ${isClosed} then 0 else ${drpOfNet(decimals)} end as drp_amount
    from declared e
    join account a on a.account_id = e.account_id
    join biz_entity n on n.biz_entity_id = a.biz_entity_id
    left join (
      select account_id, sum(amount) as tax from withholding group by account_id) t
      on t.account_id = e.account_id
    cross join lateral (select coalesce(t.tax, 0) as tax offset 0) w
    offset 0) d`

/** Shows what Declare would do with the same body, without writing anything. */
export async function previewDistribution(
  all: Sql,
  actor: Actor,
  request: PreviewRequest,
): Promise<Answer> {
  const { compareWithLast, ...declaration } = request
  const which = await identifyDistribution(all, actor, declaration)
  const handle = inProduct(all, which.productID)
  const stored = await readDistribution(handle, which)
  refuseUndeclarable(stored)
  const terms = await entitlingOf(handle, stored, declaration)
  const entitlements = selectEntitlements(stored, terms)
  const tax = await taxTermsOf(handle, stored)
  const last = compareWithLast ? await lastBefore(handle, stored) : undefined
  const firstPage = sql`
    select e.*, null::numeric as drp_units, null::numeric as drp_residual,
      null::int as payment_detail_id, null::bigint as payment_transaction_id,
      null::text as payee_name, null::text as payee_bsb, null::text as payee_account_number,
      null::text as payee_iban, (select ${totalRate} from entitled e) as total_rate,
      ${terms.unitValue}::numeric as unit_value
    from entitled e order by e.account_id limit ${defaultPageSize}`
  // Accounts with cash but no bank account, and closed accounts: Payment pays them all the same.
  const exceptions = sql`
    select a.account_id as "accountID", a.account_number as "accountNumber", x.code
    from entitled e join account a on a.account_id = e.account_id
    join biz_entity n on n.biz_entity_id = a.biz_entity_id
    cross join lateral (
      select 'no_payment_detail' as code
      where e.cash_amount > 0 and not exists (select 1 from payment_detail d
        where d.biz_entity_id = a.biz_entity_id and d.is_for_distribution)
      union all
      select 'closed_account' where ${isClosed}) x`
  const [preview] = await handle.query<Previewed>(sql`
    with declared as materialized (${entitlements}),
    -- What would be withheld, under the name of the table that it would be kept in.
    withholding as materialized (${tax ? withheldOf(stored, tax, declared) : noTax}),
    entitled as materialized (${afterTax(stored.decimals)}),
    exceptional as materialized (${exceptions}),
    ${last ? comparing(last) : sql``}
    preview as (
      select count(*)::int as "accountCount", trim_scale(coalesce(sum(units), 0)) as units,
        trim_scale(coalesce(sum(gross_amount), 0)) as "grossAmount",
        trim_scale(coalesce(sum(tax_amount), 0)) as "taxAmount",
        trim_scale(coalesce(sum(drp_amount), 0)) as "drpAmount",
        trim_scale(coalesce(sum(cash_amount), 0)) as "cashAmount",
        ${many(sql`
          select c.name as "taxComponentName", trim_scale(coalesce(c.amount, 0)) as amount
          from (${amountsOf(stored, 'entitled')}) c order by c.place`)} as "taxComponents",
        (select count(*)::int from exceptional) as "exceptionCount",
        ${many(sql`
          select * from exceptional order by 1, 3 limit ${defaultPageSize}`)} as exceptions,
        ${many(selectEntitled(actor, firstPage))} as accounts,
        ${last ? comparison(stored, last) : sql`null::json`} as "sinceLast"
      from entitled)
    select to_json(preview)::text as json, "grossAmount" as gross, "accountCount" as accounts
    from preview`)
  // An aggregate always gives one row.
  const { json, gross, accounts } = preview!
  refuseNothing(stored, { accounts, total: gross })
  refuseTooLarge('amounts', gross, methodOf(stored))
  refuseUnshared(stored, gross)
  return { json, recordCount: 1 }
}
