import sql from 'sql-template-tag'
import { type LockedSet, lockSet, postSet } from '../../ledger/biz-transaction/post-set.ts'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { treatiesOn } from '../withholding-rate/rates.ts'
import { closedAmong } from './closed.ts'
import { joinedOnce } from './once.ts'
import { payee } from './payee.ts'
import { type PaidOut, paidOut, payLeftovers, residualAmount } from './residual.ts'
import type { Payment } from './schema.ts'
import { inSpan, type Span } from './span.ts'
import { identifyDistribution, lockDistribution, ofDistribution, type Stored } from './sql.ts'
import {
  begin,
  countAccounts,
  moveOn,
  type Phase,
  refuseFarAhead,
  refuseLocked,
  refuseOtherStage,
  type Stage,
} from './stage.ts'
import { kindsTold, postTax, type TaxTerms, taxTermsOf, withhold } from './withhold.ts'
import { accountsInWords } from './words.ts'

const { Declared, Paid } = lookups.DistributionStatus
const type = lookups.BizTransactionType['Distribution payment']

/** Facts kept for investor statements and banks, whatever the product and rates become later. */
type Kept = { kinds: (string | null)[]; companyTax: string; treaties?: string[] | null }
/** The rates and kinds at the beginning of the payment apply until it ends. */
type Terms = { tax?: TaxTerms | undefined; kept?: Kept }

/**
 * Withholds tax and pays the cash part, each with one transaction per account. The DRP part is held
 * for the allotment, except for closed accounts, which get no more units and are paid in cash.
 */
export async function payDistribution(
  all: Tx,
  actor: Actor,
  payment: Payment,
  inline: number,
): Promise<Written> {
  const which = await identifyDistribution(all, actor, payment)
  const tx = inProduct(all, which.productID)
  const stored = await lockDistribution(tx, which)
  refuseOtherStage(stored, Declared)
  refuseFarAhead(stored, stored.paymentDate!, 'paymentDate')
  refuseLocked(stored, stored.paymentDate!)
  const accounts = await countAccounts(tx, pay.accounts(stored))
  const terms = { tax: await taxTermsOf(tx, stored), kept: await keptOf(tx, stored) }
  return begin(tx, actor, stored, payStage, { terms, accounts, inline })
}

const keptOf = async (tx: Tx, stored: Stored): Promise<Kept> => ({
  kinds: kindsTold(stored),
  companyTax: stored.companyTax,
  treaties: stored.withholding ? await treatiesOn(tx, stored.paymentDate!) : null,
})

async function payAccounts(tx: Tx, stored: Stored, span: Span, locked: LockedSet) {
  const { productID, paymentDate: date } = stored
  const own = sql`${inSpan(stored, 'e', span)} and e.cash_amount > 0`
  const unpaid = sql`${own} and e.payment_transaction_id is null`
  // The payee is copied, so that later changes of the bank account do not change this payment.
  await joinedOnce(tx, () =>
    tx.query(sql`
    with paying as materialized (
      select e.account_id as id, p.*
      from entitlement e left join lateral (${payee}) p on true where ${unpaid}),
    numbered as materialized (
      select g.*, nextval('biz_transaction_biz_transaction_id_seq') as transaction_id
      from paying g)
    update entitlement e set payment_transaction_id = n.transaction_id,
      payment_detail_id = n.payment_detail_id, payee_name = n.account_name, payee_bsb = n.bsb,
      payee_account_number = n.account_number, payee_iban = n.iban
    from numbered n where ${ofDistribution(stored, 'e')} and e.account_id = n.id`),
  )
  await postSet(tx, productID, locked, {
    date: date!,
    postings: sql`
      select e.payment_transaction_id as id, null::bigint as parent_id,
        ${type}::smallint as type_id, e.account_id, e.investment_id,
        ${date}::date as transaction_date, null::numeric as investment_price,
        e.cash_amount as amount, 0::numeric as quantity, 0::numeric as entry_fee_amount,
        null::text as external_id, null::text as comment, e.corporate_action_id,
        null::bigint as biz_event_id
      from entitlement e where ${own} and e.payment_transaction_id is not null`,
  })
}

/** Moves the DRP part of closed accounts to their cash part. */
const payInstead = (tx: Tx, own: Fragment, closed: number[]) =>
  tx.query(sql`
    update entitlement e set declared_drp_amount = coalesce(e.declared_drp_amount, e.drp_amount),
      cash_amount = e.cash_amount + e.drp_amount, drp_amount = 0
    where ${own} and e.account_id = any(${closed}::int[])`)

const pay: Phase<Terms> = {
  accounts: (stored) => sql`entitlement x where ${ofDistribution(stored, 'x')}`,
  work: async (tx, stored, { tax }, span) => {
    const own = inSpan(stored, 'e', span)
    const closed = await closedAmong(tx, sql`${own} and e.drp_amount > 0`)
    // With tax all accounts are locked, because tax is withheld from reinvested amounts, too.
    const which = tax
      ? own
      : sql`${own} and (e.cash_amount > 0 or e.account_id = any(${closed}::int[]))`
    const accounts = sql`select e.account_id from entitlement e where ${which}`
    const locked = await lockSet(tx, stored.productID, accounts)
    if (tax) await withhold(tx, stored, tax, span)
    if (closed.length > 0) await payInstead(tx, own, closed)
    await payAccounts(tx, stored, span, locked)
    if (tax) await postTax(tx, stored, span, locked)
    await payLeftovers(tx, { ...stored, date: stored.paymentDate!, with: stored.id }, span)
  },
}

type Done = { accounts: number; total: string; withheld: string; gross: string }

export const payStage: Stage<Terms> = {
  name: 'Payment',
  operation: 'POST /Distribution/Payment',
  event: 'distribution.paid',
  phases: () => [pay],
  // A payment that began before `kept` was stored uses the facts at its end.
  finish: async (tx, stored, { kept }) => {
    const { kinds, companyTax, treaties = null } = kept ?? (await keptOf(tx, stored))
    const [done] = await tx.query<Done>(sql`
      select count(*) filter (where cash_amount > 0)::int as accounts,
        trim_scale(coalesce(sum(cash_amount), 0))::text as total,
        trim_scale(coalesce(sum(tax_amount), 0))::text as withheld,
        trim_scale(coalesce(sum(gross_amount), 0))::text as gross
      from entitlement e where ${ofDistribution(stored, 'e')}`)
    const { accounts, total, withheld, gross } = done!
    await moveOn(
      tx,
      stored,
      Paid,
      sql`paid_amount = ${total}, withheld_amount = ${withheld}, paid_date = now(),
        paid_income_kinds = ${kinds}::text[], paid_company_tax = ${companyTax},
        paid_treaties = ${treaties}::text[]`,
    )
    const left = await paidOut(tx, sql`${ofDistribution(stored, 'r')} and r.reversed_date is null`)
    const tax = withheld === '0' ? '' : ` ${withheld} of tax is withheld.`
    const message = `Paid ${total} to ${accountsInWords(accounts)}.${tax}${leftInWords(left)}`
    // Approval rules by amount use the gross amount, which counts even if nothing is paid in cash.
    const changes = { accounts, total, withheld, grossAmount: gross, ...residualAmount(left) }
    return { message, counts: { accounts }, changes }
  },
}

const leftInWords = ({ accounts, total }: PaidOut) =>
  accounts === 0
    ? ''
    : ` ${total} left of earlier reinvestments is paid to ${accountsInWords(accounts)}.`
