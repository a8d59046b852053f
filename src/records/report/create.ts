import sql from 'sql-template-tag'
import { investmentReference } from '../../catalogue/investment/schema.ts'
import { identifyInvestment } from '../../catalogue/investment/sql.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { todayOf } from '../../catalogue/product/today.ts'
import { distributionReference } from '../../money/distribution/schema.ts'
import { identifyDistribution } from '../../money/distribution/sql.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { bizEntityReference } from '../../parties/investor/identities.ts'
import { visibleEntity } from '../../parties/investor/scope.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid, type Problem, refuseAll } from '../../platform/refusal.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import {
  identify,
  identifyOptional,
  namesAny,
  noSuch,
  type Reference,
} from '../../platform/sql/identify.ts'
import { queueJob } from '../../platform/sql/queue.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { statementKinds } from '../statement/kinds.ts'
import { checkMayRead, kinds } from './kinds.ts'
import { type Format, type ReportInput, tableFormats } from './schema.ts'
import { renderReport } from './sql.ts'

const { ReportType, DistributionStatus } = lookups

/** Takes an order for a report. The commit of this transaction wakes a worker. */
export async function createReport(tx: Tx, actor: Actor, input: ReportInput): Promise<Written> {
  const { reportTypeID, top, knownAt } = input
  const format = input.format ?? usualFormat(input)
  checkMayRead(actor, reportTypeID)
  refuseAll(400, [
    ...neededBy(input, format),
    ...wrongPeriod(input.fromDate, input.toDate ?? input.date),
    ...wrongFormat(input, format),
  ])
  const about = await subjectOf(tx, actor, input)
  const { productID, investmentID, corporateActionID, bizEntityID, accountID } = about
  const { name = kinds[reportTypeID]!.title, date, fromDate, toDate } = input
  const [given] = await tx.query<{ isAhead: boolean }>(sql`
    select coalesce(${knownAt}::timestamptz > clock_timestamp(), false) as "isAhead"`)
  if (given!.isAhead) throw invalid('out_of_range', 'knownAt lies in the future.', 'knownAt')
  const today = await todayOf(tx, productID)
  const lastDay = toDate ?? date ?? usualEnd(input, today)
  refuseAll(400, wrongPeriod(fromDate, lastDay))
  const [row] = await tx.query<{ id: number }>(sql`
    insert into report (report_type_id, name, format, product_id, investment_id,
      corporate_action_id, biz_entity_id, account_id, date, from_date, to_date, top, user_id,
      api_key_id, username, known_at)
    values (${reportTypeID}, ${name}, ${format}, ${productID}, ${investmentID},
      ${corporateActionID}, ${bizEntityID}, ${accountID},
      ${date ?? toDate ?? today}, ${fromDate}, ${lastDay}, ${top}, ${actor.userID},
      ${actor.apiKeyID}, ${actor.username}, ${knownAt})
    returning report_id as id`)
  const { id } = row!
  await queueReport(tx, id)
  return { ...(await renderReport(tx, id)), ids: [id], productID, changes: input }
}

/**
 * Payment dates may lie in the future: a payment reconciliation without a period has no last day.
 */
const usualEnd = ({ reportTypeID, fromDate }: ReportInput, today: string) =>
  reportTypeID === ReportType['Payment reconciliation'] && !fromDate ? null : today

export const queueReport = (tx: Tx, reportID: number) =>
  queueJob(tx, 'make_report', { reportID }, `report ${reportID}`)

/** Problems for the records that this kind of report needs and the order does not name. */
function neededBy(input: ReportInput, format: Format): Problem[] {
  const needs = (references: Reference[]): Problem[] =>
    references.some((reference) => namesAny(reference, input))
      ? []
      : [
          {
            code: 'required',
            field: references[0]!.fields[0]!,
            message: `This report needs ${references
              .flatMap(({ fields }) => fields)
              .join(' or ')}.`,
          },
        ]
  const { reportTypeID } = input
  const ofOne = isStatement(reportTypeID) && format !== 'zip'
  return [
    ...(ofDistribution.includes(reportTypeID) ? needs([distributionReference]) : []),
    ...(ofOne ? needs([bizEntityReference, accountReference]) : []),
  ]
}

const ofDistribution: number[] = [ReportType.Distribution, ReportType['Distribution statement']]
const isStatement = (typeID: number) => typeID in statementKinds

/**
 * Tables default to CSV, the investor statements of one investor or account to PDF, and those of
 * many to a zip.
 */
function usualFormat(input: ReportInput): Format {
  if (kinds[input.reportTypeID]!.sketch) return 'csv'
  const ofOne = [bizEntityReference, accountReference].some((how) => namesAny(how, input))
  return ofOne ? 'pdf' : 'zip'
}

function wrongFormat({ reportTypeID }: ReportInput, format: Format): Problem[] {
  const { sketch } = kinds[reportTypeID]!
  const possible = [
    ...(sketch ? tableFormats : (['pdf'] as const)),
    ...(isStatement(reportTypeID) ? (['zip'] as const) : []),
  ]
  if (possible.some((one) => one === format)) return []
  const message = `This report is made as ${possible.join(', ')}.`
  return [{ code: 'invalid_value', field: 'format', message }]
}

function wrongPeriod(fromDate: string | undefined, lastDay: string | null | undefined): Problem[] {
  return fromDate && lastDay && fromDate > lastDay
    ? [
        {
          code: 'invalid_period',
          field: 'fromDate',
          message: `fromDate is after the last day, ${lastDay}.`,
        },
      ]
    : []
}

/**
 * Resolves every id of an order to a native id. The product is the one that is named, else that of
 * the other records.
 */
async function subjectOf(tx: Tx, actor: Actor, input: ReportInput) {
  const named = namesAny(productReference, input)
    ? await identifyProduct(tx, actor, input)
    : undefined
  const distribution = namesAny(distributionReference, input)
    ? await identifyDistribution(tx, actor, input)
    : undefined
  const within = named ?? distribution?.productID
  const investmentID = namesAny(investmentReference, input)
    ? await identifyInvestment(tx, actor, input)
    : undefined
  const given = await identifyOptional(tx, bizEntityReference, input, {
    visible: visibleEntity(actor, 'r'),
  })
  const account = await accountOf(tx, actor, input, within)
  const productID =
    within ??
    (investmentID && (await productOf(tx, { investmentID }))) ??
    account?.productID ??
    (given && (await productOf(tx, { bizEntityID: given })))
  if (!productID) throw noSuch(productReference, {})
  await refuseStrangers(tx, productID, { investmentID, bizEntityID: given, account })
  if (distribution && investmentID) await refuseOtherClass(tx, distribution, investmentID)
  // With knownAt the report looks back to a moment at which the distribution may have been
  // declared.
  if (distribution && !input.knownAt) await refuseUndeclared(tx, distribution)
  return {
    productID,
    investmentID,
    corporateActionID: distribution?.id,
    bizEntityID: given ?? account?.bizEntityID,
    accountID: account?.id,
  }
}

type NamedAccount = { id: number; productID: number; bizEntityID: number }

async function accountOf(
  tx: Tx,
  actor: Actor,
  input: ReportInput,
  productID: number | undefined,
): Promise<NamedAccount | undefined> {
  if (!namesAny(accountReference, input)) return undefined
  const visible = inScope(actor, 'r.product_id')
  const id = await identify(tx, accountReference, input, { visible, productIDs: [productID] })
  const [row] = await tx.query<NamedAccount>(sql`
    select account_id as id, product_id as "productID", biz_entity_id as "bizEntityID"
    from account where account_id = ${id}`)
  return row
}

async function productOf(
  handle: Sql,
  { investmentID, bizEntityID }: { investmentID?: number; bizEntityID?: number },
): Promise<number | undefined> {
  const [row] = await handle.query<{ productID: number }>(sql`
    select product_id as "productID" from investment where investment_id = ${investmentID ?? null}
    union all
    select product_id from biz_entity where biz_entity_id = ${bizEntityID ?? null}`)
  return row?.productID
}

/**
 * Refuses an order whose records do not all belong to one product, or whose account does not belong
 * to its entity.
 */
async function refuseStrangers(
  tx: Tx,
  productID: number,
  named: {
    investmentID: number | undefined
    bizEntityID: number | undefined
    account: NamedAccount | undefined
  },
) {
  const { investmentID, bizEntityID, account } = named
  const problems: Problem[] = []
  const stranger = (field: string) =>
    problems.push({
      code: 'combination',
      field,
      message: `What ${field} names does not belong to the rest of the report.`,
    })
  if (investmentID && (await productOf(tx, { investmentID })) !== productID)
    stranger('investmentID')
  if (bizEntityID && (await productOf(tx, { bizEntityID })) !== productID) stranger('bizEntityID')
  if (account && account.productID !== productID) stranger('accountID')
  if (account && bizEntityID && account.bizEntityID !== bizEntityID) stranger('accountID')
  refuseAll(400, problems)
}

type DistributionID = Awaited<ReturnType<typeof identifyDistribution>>

/** A distribution belongs to one class, so a report on another class has nothing to show of it. */
async function refuseOtherClass(tx: Tx, { productID, id }: DistributionID, investmentID: number) {
  const [row] = await tx.query(sql`
    select 1 from distribution
    where product_id = ${productID} and corporate_action_id = ${id}
      and investment_id <> ${investmentID}`)
  if (row)
    throw invalid(
      'combination',
      'The distribution is of another class: name that class, or none.',
      'investmentID',
    )
}

async function refuseUndeclared(tx: Tx, which: DistributionID) {
  const [row] = await tx.query(sql`
    select 1 from distribution
    where product_id = ${which.productID} and corporate_action_id = ${which.id}
      and distribution_status_id = ${DistributionStatus.Configured}`)
  if (row) throw conflict('not_declared', 'The distribution is not declared yet.')
}
