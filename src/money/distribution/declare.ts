import sql, { raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import { wholeUnits } from '../../platform/shape/decimal.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { centOf } from './components.ts'
import {
  dealt,
  type Entitling,
  entitlementColumns,
  isByPeriod,
  measuredUnits,
  methodOf,
  missingOf,
  poolOf,
  selectEntitlements,
  settled,
  unitValueOf,
} from './entitlement.ts'
import { changesSince } from './exceptions.ts'
import { joinedOnce } from './once.ts'
import type { Declaration } from './schema.ts'
import { selectionOf } from './selection.ts'
import { inSpan, type Span, within } from './span.ts'
import {
  identifyDistribution,
  lockDistribution,
  lockNow,
  ofDistribution,
  type Stored,
} from './sql.ts'
import { begin, countAccounts, moveOn, type Phase, refuseUnderWay, type Stage } from './stage.ts'
import { addToTotals } from './totals.ts'
import { kindsOf } from './withhold.ts'
import { accountsInWords, refuseTooLarge } from './words.ts'

const { Configured, Declared } = lookups.DistributionStatus

type Terms = Entitling & {
  /**
   * From when on changes may be missed: those under way when the stage began and, by a job, later
   * ones to accounts that it has already done.
   */
  since?: string
  /** For a total: the pool, the sum of all measures, and the last remainder that gets a cent. */
  sharing?: { pool: string; measured: string; remainder: string | null; accountID: number | null }
}

/** Fixes the entitlements. Later transactions, even back-dated ones, do not change them. */
export async function declareDistribution(
  all: Tx,
  actor: Actor,
  declaration: Declaration,
  inline: number,
): Promise<Written> {
  const which = await identifyDistribution(all, actor, declaration)
  const tx = inProduct(all, which.productID)
  const stored = await lockDistribution(tx, which)
  refuseUndeclarable(stored)
  const entitling = await entitlingOf(tx, stored, declaration)
  const [began] = await tx.query<{ since: string }>(changesSince(entitling.selection))
  const terms = { ...entitling, ...began! }
  if (!declaration.confirmSecond) await refuseSecond(tx, stored)
  const { include, preCalculated } = terms.selection
  const accounts =
    include?.length ?? preCalculated.length + (await countAccounts(tx, holders(stored)))
  return begin(tx, actor, stored, declareStage, { terms, accounts, inline })
}

/** The basis of a declaration, for Declare and for Preview. */
export async function entitlingOf(
  handle: Sql,
  stored: Stored,
  declaration: Declaration,
): Promise<Entitling> {
  const selection = await selectionOf(handle, stored, declaration)
  const { total, perUnit, decimals } = stored
  if (total && !perUnit) poolOf(total, decimals, selection)
  return { selection, unitValue: await unitValueOf(handle, stored) }
}

/** The holdings of all accounts that ever held the investment. */
const holders = ({ productID, investmentID }: Stored) => sql`
  holding x where x.product_id = ${productID} and x.investment_id = ${investmentID}`

const calculate: Phase<Terms> = {
  accounts: holders,
  work: async (tx, stored, terms, span) => {
    await rememberListed(tx, stored, terms, span)
    await tx.query(sql`
      insert into entitlement (${entitlementColumns}) ${selectEntitlements(stored, terms, span)}`)
    await addToTotals(tx, inSpan(stored, 'e', span))
  },
}

/** Entitled accounts, even those that never held a unit, must not be deleted any more. */
const rememberListed = (
  tx: Tx,
  { productID, decimals }: Stored,
  { selection: { preCalculated: listed } }: Terms,
  span: Span,
) =>
  tx.query(sql`
    insert into ledger_account (product_id, account_id)
    select ${productID}::int, l.account_id
    from unnest(${listed.map(({ accountID }) => accountID)}::int[],
      ${listed.map(({ amount }) => amount)}::numeric[]) l (account_id, amount)
    where ${within('l.account_id', span)} and round(l.amount, ${decimals}::int) > 0 order by 2
    on conflict do nothing`)

/** First phase of a total in spans: fixes the measure of each account. */
const measure: Phase<Terms> = {
  accounts: holders,
  work: async (tx, stored, terms, span) => {
    await rememberListed(tx, stored, terms, span)
    const { productID, id, investmentID } = stored
    await tx.query(sql`
      insert into entitlement (product_id, corporate_action_id, account_id, investment_id, units,
        unit_days, pre_calculated, gross_amount, component_amounts, drp_amount, cash_amount)
      select ${productID}::int, ${id}::int, u.account_id, ${investmentID}::int, u.units,
        u.unit_days, u.amount is not null, coalesce(u.amount, 0), '{}', 0, coalesce(u.amount, 0)
      from (${measuredUnits(stored, terms.selection, span)}) u
      where u.units > 0 or u.measure > 0 or u.amount > 0`)
    await addToTotals(tx, sql`${inSpan(stored, 'e', span)} and e.pre_calculated`)
  },
}

/** Second phase: the amounts. Cents that are left over go to the largest remainders. */
const share: Phase<Terms> = {
  accounts: (stored) => sql`entitlement x where ${ofDistribution(stored, 'x')}`,
  prepare: async (tx, stored, terms) => {
    const pool = String(poolOf(stored.total!, stored.decimals, terms.selection))
    return { ...terms, sharing: { pool, ...(await dealOut(tx, stored, pool)) } }
  },
  work: async (tx, stored, terms, span) => {
    const { pool, measured, remainder, accountID } = terms.sharing!
    const rows = sql`select e.*, coalesce(e.unit_days, e.units) as measure,
        case when e.pre_calculated then e.gross_amount end as amount
      from entitlement e where ${inSpan(stored, 'e', span)}`
    const gross = sql`
      select d.account_id, d.units, d.unit_days, d.amount, coalesce(d.amount, round(
        (d.cents + coalesce((d.remainder, -d.account_id)
          >= (${remainder}::numeric, -${accountID}::int), false)::int)
        * ${centOf(stored.decimals)}::numeric, ${stored.decimals}::int)) as gross
      from (${dealt(rows, pool, sql`${measured}::numeric`)}) d`
    await joinedOnce(tx, () =>
      tx.query(sql`
      update entitlement e set drp_type_id = s.drp_type_id, drp_value = s.drp_value,
        gross_amount = s.gross_amount, component_amounts = s.component_amounts,
        drp_amount = s.drp_amount, cash_amount = s.cash_amount
      from (${settled(stored, gross)}) s
      where ${inSpan(stored, 'e', span)} and e.account_id = s.account_id`),
    )
    await tx.query(sql`
      delete from entitlement e
      where ${inSpan(stored, 'e', span)}
        and e.units = 0 and e.gross_amount = 0`)
    await addToTotals(tx, sql`${inSpan(stored, 'e', span)} and not e.pre_calculated`)
  },
}

/** The sum of all measures, and the last account that gets one of the cents left over. */
async function dealOut(tx: Tx, stored: Stored, pool: string) {
  const rows = sql`select e.account_id, coalesce(e.unit_days, e.units) as measure
    from entitlement e where ${ofDistribution(stored, 'e')} and not e.pre_calculated`
  const [whole] = await tx.query<{ measured: string }>(sql`
    select coalesce(sum(measure), 0)::text as measured from (${rows}) r`)
  const measured = whole!.measured
  const shares = dealt(rows, pool, sql`${measured}::numeric`)
  const [last] = await tx.query<{ remainder: string; accountID: number }>(sql`
    select remainder::text, account_id as "accountID"
    from (
      select d.*, ${pool}::numeric - sum(cents) over () as left_over,
        row_number() over (order by remainder desc, account_id) as place
      from (${shares}) d) r
    where place = left_over`)
  return { measured, remainder: last?.remainder ?? null, accountID: last?.accountID ?? null }
}

export const declareStage: Stage<Terms> = {
  name: 'Declare',
  operation: 'POST /Distribution/Declare',
  event: 'distribution.declared',
  phases: (stored, asJob) => (asJob && isOfTotal(stored) ? [measure, share] : [calculate]),
  finish: async (tx, stored, { selection, unitValue, since = null }) => {
    const [done] = await tx.query<{ accounts: number; total: string; rate: string | null }>(sql`
      select count(*)::int as accounts, trim_scale(coalesce(sum(gross_amount), 0))::text as total,
        ${isOfTotal(stored) ? totalRate : raw('null')} as rate
      from entitlement e where ${ofDistribution(stored, 'e')}`)
    const { accounts, total, rate } = done!
    refuseNothing(stored, { accounts, total })
    refuseTooLarge('amounts', total, methodOf(stored))
    refuseUnshared(stored, total)
    await moveOn(
      tx,
      stored,
      Declared,
      sql`declared_amount = ${total}, declared_date = now(), declared_unit_value = ${unitValue},
        declared_since = coalesce(${since}::timestamptz, now()),
        declared_rate = ${rate}::numeric`,
    )
    const next = 'Pay it with POST /Distribution/Payment.'
    return {
      message: `Declared ${total} for ${accountsInWords(accounts)}. ${next}`,
      counts: { accounts },
      changes: { accounts, total, ...selection },
    }
  },
}

/** Whether each account gets a share of a total. */
const isOfTotal = ({ perUnit, total }: Stored) => Boolean(total) && !perUnit

/** The rate that a total gives per unit, or per unit and day. */
export const totalRate = raw(`round(round(sum(e.gross_amount) filter (where not e.pre_calculated),
  40) / nullif(sum(coalesce(e.unit_days, e.units)) filter (where not e.pre_calculated), 0), 12)`)

/** Refuses if nobody is entitled: nobody held units, or all amounts are 0 after rounding. */
export function refuseNothing(
  stored: Stored,
  { accounts, total }: { accounts: number; total: string },
) {
  if (accounts > 0 && total !== '0') return
  const { recordDate, startDate, endDate } = stored
  const days = isByPeriod(stored) ? `from ${startDate} to ${endDate}` : `on ${recordDate}`
  const why =
    accounts === 0
      ? `no account that counts held units ${days}`
      : 'what each account would get is 0 after rounding'
  throw conflict('nobody_entitled', `Nobody is entitled: ${why}.`)
}

export function refuseUndeclarable(stored: Stored) {
  refuseUnderWay(stored)
  if (stored.statusID !== Configured)
    throw conflict('wrong_stage', 'The distribution is declared already.')
  const missing = missingOf(stored)
  if (missing.length > 0)
    throw conflict(
      'incomplete',
      `The configuration is not complete: ${missing.join(', ')} missing.`,
    )
  if (stored.withholding) kindsOf(stored)
  // Until the day has ended in the product's time zone, units may still be bought or sold on it.
  if (stored.recordDate! >= stored.today)
    throw conflict('record_date', `The record date ${stored.recordDate} has not ended yet.`)
  if (isByPeriod(stored) && stored.endDate! >= stored.today)
    throw conflict('too_early', `The period up to ${stored.endDate} has not ended yet.`)
}

/** Refuses a second declaration for the same record date, which is nearly always a mistake. */
async function refuseSecond(tx: Tx, stored: Stored) {
  const { productID, id, investmentID, recordDate } = stored
  const others = await lockNow(
    tx,
    sql`
      select t.corporate_action_id as id, t.distribution_status_id >= ${Declared}
        or exists (select 1 from distribution_stage g where g.product_id = t.product_id
          and g.corporate_action_id = t.corporate_action_id) as declared
      from distribution t
      where t.product_id = ${productID} and t.investment_id = ${investmentID}
        and t.record_date = ${recordDate} and t.corporate_action_id <> ${id}
      order by t.corporate_action_id for update of t nowait`,
  )
  const first = others.find(({ declared }) => declared)
  if (first)
    throw conflict(
      'second_distribution',
      `Distribution ${first.id} of this investment has the record date ${recordDate} too. ` +
        'If both are meant, send confirmSecond: true.',
      'confirmSecond',
    )
}

/** Refuses if a total cannot be shared to the last cent, because no other account has units. */
export function refuseUnshared({ perUnit, total, decimals }: Stored, declared: string) {
  if (perUnit || !total) return
  if (wholeUnits(total, decimals) !== wholeUnits(declared, decimals))
    throw conflict(
      'nobody_to_share',
      `Of the total of ${total} only ${declared} can be declared: no other account has units to ` +
        'share in it.',
    )
}
