import sql from 'sql-template-tag'
import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid, type Problem, refuseAll } from '../../platform/refusal.ts'
import { compareDecimals, sumDecimals } from '../../platform/shape/decimal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { locateAll, namesAny, noSuch, type Reference } from '../../platform/sql/identify.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { defineTable, put, rowFrom, updateRows } from '../../platform/sql/rows.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import {
  Distribution,
  type DistributionInput,
  type DistributionKey,
  DistributionRecord,
  type DistributionUpdate,
  distributionParameter,
  distributionReference,
  drpInvestmentReference,
} from './schema.ts'
import {
  type DistributionID,
  identifyDistribution,
  lockDistribution,
  renderDistribution,
  type Stored,
} from './sql.ts'
import { refuseUnderWay } from './stage.ts'
import { keepDistribution } from './versions.ts'

const { Configured } = lookups.DistributionStatus

/** Refuses a body for all problems that can be found without the database. */
function refuseInvalid(input: DistributionInput, needed: Reference[]) {
  const problems: Problem[] = needed.flatMap((how) =>
    namesAny(how, input) ? [] : noSuch(how, input).problems,
  )
  const rates = [
    input.distributionAmountPerUnit,
    input.distributionAmountTotal,
    input.centsPerUnitPerDay,
    input.proRataPercentPerAnnum,
  ]
  if (rates.every((rate) => rate === undefined))
    problems.push({
      code: 'required',
      field: 'distributionAmountPerUnit',
      message:
        'distributionAmountPerUnit or rate parameters (distributionAmountTotal, ' +
        'centsPerUnitPerDay or proRataPercentPerAnnum) are required.',
    })
  const total = sumDecimals(input.taxComponents.map(({ percentage }) => percentage))
  if (compareDecimals(total, '100') !== 0)
    problems.push({
      code: 'tax_components',
      field: 'taxComponents',
      message: `Tax components must total exactly 100 percent; these total ${total}.`,
    })
  const { proRataStartDate: start, proRataEndDate: end } = input
  if (start !== undefined && end !== undefined && end < start)
    problems.push({
      code: 'invalid_value',
      field: 'proRataEndDate',
      message: 'proRataEndDate is before proRataStartDate.',
    })
  refuseAll(400, [...problems, ...earlyDates(input)])
}

/** Payment and allotment follow from the record date, so they cannot come before it. */
const earlyDates = (input: DistributionInput): Problem[] =>
  (['paymentDate', 'drpAllotmentDate'] as const).flatMap((field): Problem[] => {
    const { recordDate, [field]: date } = input
    return recordDate !== undefined && date !== undefined && date < recordDate
      ? [{ code: 'invalid_value', field, message: `${field} is before the recordDate.` }]
      : []
  })

/** The problem of an investment that does not exist, with the specification's words (7.6). */
const notThere = (how: Reference, productID: number): Problem => ({
  code: 'not_found',
  field: how.fields[0]!,
  message:
    how === drpInvestmentReference
      ? "Can't find any record with the provided DrpInvestmentID, DrpExternalInvestmentId or " +
        'DrpSecurityCode.'
      : 'No record was found for the provided InvestmentID, ExternalInvestmentId or SecurityCode ' +
        `in ProductID (${productID}).`,
})

async function investmentsOf(
  tx: Tx,
  actor: Actor,
  productID: number,
  input: DistributionInput,
): Promise<Investments> {
  const named = [investmentReference, drpInvestmentReference].filter((how) => namesAny(how, input))
  const visible = inScope(actor, 'r.product_id')
  const ids: (number | undefined)[] = []
  const problems: Problem[] = []
  for (const how of named) {
    const [found] = await locateAll(tx, how, [input], { visible, productIDs: [productID] })
    if ('id' in found!) ids.push(found.id)
    else problems.push(notThere(how, productID))
  }
  refuseAll(404, problems)
  const [investmentID, drpInvestmentID] = ids
  await refuseOtherCurrency(tx, ids)
  return { investmentID: investmentID!, drpInvestmentID }
}

type Investments = { investmentID: number; drpInvestmentID: number | undefined }

/** Refuses a DRP target in another currency, because no exchange rate is known here. */
async function refuseOtherCurrency(tx: Tx, investmentIDs: (number | undefined)[]) {
  const currencies = await tx.query(sql`
    select distinct currency_id from investment where investment_id = any(${investmentIDs}::int[])`)
  if (currencies.length > 1)
    throw invalid(
      'other_currency',
      'The DRP target must be in the currency of the investment.',
      'drpInvestmentID',
    )
}

const distributionTable = defineTable('distribution', {
  key: 'corporate_action_id',
  record: DistributionRecord,
  inProduct: true,
  updatedDate: true,
})

export async function createDistribution(
  tx: Tx,
  actor: Actor,
  input: DistributionInput,
): Promise<Written> {
  refuseInvalid(input, [productReference, investmentReference])
  const productID = await identifyProduct(tx, actor, input)
  await refuseInactive(tx, productID)
  const investments = await investmentsOf(tx, actor, productID, input)
  const row = rowFrom(distributionTable, { ...input, ...investments }, { product_id: productID })
  const which = { productID, id: await put(tx, distributionTable, undefined, row) }
  await writeComponents(tx, which, input)
  return {
    ...(await renderDistribution(tx, which)),
    message: 'The distribution is configured. Declare it with POST /Distribution/Declare.',
    ids: [which.id],
    productID,
    changes: input,
  }
}

async function refuseInactive(tx: Tx, productID: number) {
  const [product] = await tx.query<{ isActive: boolean }>(sql`
    select is_active as "isActive" from product where product_id = ${productID} for share`)
  if (!product!.isActive)
    throw conflict('product_inactive', 'The product takes no new distributions.', 'productID')
}

const writeComponents = (tx: Tx, { productID, id }: DistributionID, input: DistributionInput) =>
  tx.query(sql`
    insert into distribution_component
      (product_id, corporate_action_id, ordinal, tax_component_name, percentage)
    select ${productID}::int, ${id}::int, c.ordinality, c.name, c.percentage
    from unnest(${input.taxComponents.map(({ taxComponentName }) => taxComponentName)}::text[],
      ${input.taxComponents.map(({ percentage }) => percentage)}::numeric[])
      with ordinality c (name, percentage)`)

function refuseSettled(stored: Stored) {
  refuseUnderWay(stored)
  const { statusID } = stored
  if (statusID !== Configured)
    throw conflict(
      'wrong_stage',
      'The distribution is declared: to change it, take its stages back first ' +
        '(POST /Distribution/Reverse).',
    )
}

export async function updateDistribution(
  all: Tx,
  actor: Actor,
  input: DistributionUpdate,
): Promise<Written> {
  refuseInvalid(input, [distributionReference, investmentReference])
  const which = await identifyDistribution(all, actor, input)
  const tx = inProduct(all, which.productID)
  refuseSettled(await lockDistribution(tx, which))
  const before = await renderDistribution(tx, which)
  const investments = await investmentsOf(tx, actor, which.productID, input)
  const key = { product_id: which.productID, corporate_action_id: which.id }
  const row = rowFrom(distributionTable, { ...input, ...investments }, key)
  await keepDistribution(tx, which)
  await updateRows(tx, distributionTable, [row])
  await tx.query(sql`
    delete from distribution_component
    where product_id = ${which.productID} and corporate_action_id = ${which.id}`)
  await writeComponents(tx, which, input)
  const after = await renderDistribution(tx, which)
  const changes = changesBetween(Distribution, before.json, after.json)
  const json = `[${after.json}]`
  const told = { ids: [which.id], productID: which.productID, before: before.json, changes }
  return { json, recordCount: 1, ...told }
}

/** A distribution that was ever declared is kept, with its former entitlements, as history. */
async function refuseReversed(tx: Tx, { productID, id }: DistributionID) {
  const [kept] = await tx.query(sql`
    select 1 from entitlement_history
    where product_id = ${productID} and corporate_action_id = ${id} limit 1`)
  if (kept)
    throw conflict(
      'has_stages',
      'The distribution has been through a stage; it is kept as history.',
    )
}

export async function deleteDistribution(
  all: Tx,
  actor: Actor,
  key: DistributionKey,
): Promise<Written> {
  const which = await identifyDistribution(all, actor, key, distributionParameter)
  const tx = inProduct(all, which.productID)
  refuseSettled(await lockDistribution(tx, which))
  await refuseReversed(tx, which)
  const { json: before } = await renderDistribution(tx, which)
  await keepDistribution(tx, which)
  await tx.query(sql`
    delete from distribution
    where product_id = ${which.productID} and corporate_action_id = ${which.id}`)
  const changes = { deleted: recordOf(before) }
  return { ...nothingLeft, ids: [which.id], productID: which.productID, before, changes }
}
