import sql, { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, type Refusal } from '../../platform/refusal.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import { financialYear, type Year } from '../statement/financial-year.ts'

const { ReportType } = lookups

/** Investor statements that were made: their subject, and the moment whose state they show. */
export type Told = {
  typeID: number
  productID: number
  corporateActionID: number | null
  investmentID: number | null
  date: string
  moment: string | null
}

/** The columns of a report r that make up a `Told`. */
export const toldColumns = sql`r.report_type_id as "typeID", r.product_id as "productID",
  r.corporate_action_id as "corporateActionID", r.investment_id as "investmentID", r.date,
  r.known_at::text as moment`

/**
 * The refusal to send letters about a distribution that was reversed after they were made, or about
 * a payment of residuals that was rolled back, if one was.
 */
export async function outdatedBy(tx: Sql, told: Told): Promise<Refusal | undefined> {
  const { typeID, productID, moment, date } = told
  if (moment === null) return undefined
  const isOfYear = typeID === ReportType['Annual tax statement']
  const year = isOfYear ? await financialYear(tx, productID, date) : undefined
  const which = toldOf(told, year)
  if (!which) return undefined
  const [changed] = await inProduct(tx, productID).query<{ id: number }>(sql`
    select d.corporate_action_id as id
    from distribution_version v
    join distribution d on d.product_id = v.product_id
      and d.corporate_action_id = v.corporate_action_id
    where v.product_id = ${productID} and v.valid_to = (
        select min(w.valid_to) from distribution_version w
        where w.product_id = v.product_id and w.corporate_action_id = v.corporate_action_id
          and w.valid_to > ${moment}::timestamptz)
      and ${which}
    order by 1 limit 1`)
  if (changed)
    return conflict(
      'outdated',
      `Distribution ${changed.id}, which the statements tell of, was taken back since they were ` +
        'made: order them again.',
    )
  return year && residualsBack(inProduct(tx, productID), told, year)
}

/** The refusal where a payment of residuals in the year, without a distribution, is rolled back. */
async function residualsBack(tx: Sql, told: Told, { from, to }: Year) {
  const { productID, investmentID, moment } = told
  const [back] = await tx.query<{ id: number }>(sql`
    select r.biz_transaction_id as id from residual_payment r
    where r.product_id = ${productID} and r.corporate_action_id is null
      and r.payment_date between ${from} and ${to} and r.paid_date <= ${moment}::timestamptz
      and r.reversed_date > ${moment}::timestamptz
      ${investmentID ? sql`and r.investment_id = ${investmentID}` : sql``}
    order by 1 limit 1`)
  if (!back) return undefined
  return conflict(
    'outdated',
    `Transaction ${back.id}, which the statements tell of, was rolled back since they were made: ` +
      'order them again.',
  )
}

/**
 * Whether a step of a distribution that version v had is gone from the present row d, or was taken
 * anew at another time.
 */
const takenBack = (step: 'declared' | 'paid' | 'completed') => {
  const field = `${step}_date`
  return sql`(v.image ->> ${field}::text is not null and (v.image ->> ${field}::text)::timestamptz
    is distinct from d.${raw(field)})`
}

/** Whether the distribution had paid out residuals in the year that were reversed since. */
const paidOutThen = ({ from, to }: Year, moment: string | null) => sql`
  exists (select 1 from residual_payment r
    where r.product_id = d.product_id and r.corporate_action_id = d.corporate_action_id
      and r.payment_date between ${from} and ${to}
      and r.paid_date <= ${moment}::timestamptz and r.reversed_date > ${moment}::timestamptz)`

function toldOf(told: Told, year: Year | undefined): Fragment | undefined {
  const { typeID, corporateActionID, investmentID, moment } = told
  if (typeID === ReportType['Distribution statement'])
    return sql`d.corporate_action_id = ${corporateActionID}
      and (${takenBack('declared')} or ${takenBack('paid')} or ${takenBack('completed')})`
  if (!year) return undefined
  const paidIn = sql`(v.image ->> 'payment_date')::date between ${year.from} and ${year.to}`
  return sql`((${takenBack('paid')} and ${paidIn}) or ${paidOutThen(year, moment)})
    ${investmentID ? sql`and d.investment_id = ${investmentID}` : sql``}`
}
