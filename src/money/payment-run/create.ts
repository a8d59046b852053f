import sql from 'sql-template-tag'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { todayOf } from '../../catalogue/product/today.ts'
import type { Actor } from '../../platform/actor.ts'
import { currencyCodes, lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid, type Problem, refuseAll } from '../../platform/refusal.ts'
import { masked } from '../../platform/shape/mask.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { unhurried } from '../../platform/sql/unhurried.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { plain } from './aba.ts'
import { judged, payable, type Terms } from './payable.ts'
import { PaymentRunInput } from './schema.ts'
import { ofRun, renderRun } from './sql.ts'

/** Creates a run over all that is payable: a payment for each payee, exceptions for the rest. */
export async function createRun(tx: Tx, actor: Actor, input: PaymentRunInput): Promise<Written> {
  const productID = await identifyProduct(tx, actor, input)
  const [own] = await tx.query<{ currencyID: number; coolOffDays: number }>(sql`
    select currency_id as "currencyID", bank_detail_cool_off_days as "coolOffDays"
    from product where product_id = ${productID}`)
  const currencyID = input.currencyID ?? own!.currencyID
  refuseUnfit(input, currencyID)
  const { fundingAccount: from, sources, format, upToDate = null } = input
  const corporateActionIDs = await distributionsOf(tx, productID, input)
  const minimum = input.minimumAmount ?? '0'
  const [run] = await tx.query<{ id: number }>(sql`
    insert into payment_run (product_id, sources, corporate_action_ids, currency_id, up_to_date,
      processing_date, format, balanced, minimum_amount, funding_bsb, funding_account_number,
      funding_account_name, funding_bank_code, funding_user_id, funding_remitter_name,
      created_by_user_id)
    values (${productID}, ${sources}::text[], ${corporateActionIDs}::int[], ${currencyID},
      ${upToDate}, ${input.processingDate}, ${format}, ${input.balanced ?? false}, ${minimum},
      ${from.bsb}, ${from.accountNumber}, ${from.accountName}, ${from.bankCode?.toUpperCase()},
      ${from.userID}, ${from.remitterName}, ${actor.userID})
    returning payment_run_id as id`)
  const today = await todayOf(tx, productID)
  const terms = { productID, runID: run!.id, sources, corporateActionIDs, currencyID }
  const { coolOffDays } = own!
  const { processingDate } = input
  const all = { ...terms, upToDate, processingDate, today, format, minimum, coolOffDays }
  await unhurried(tx)
  await fill(tx, all, payable(all), claim(all))
  await dropEmpty(tx, productID, (alias) => ofRun({ productID, id: run!.id }, alias))
  return answer(tx, actor, all, masked(PaymentRunInput, input) as object)
}

/** The distributions that a request names; null, for no limit, if it names none. */
async function distributionsOf(tx: Tx, productID: number, { corporateActionIDs: ids = [] }: Asked) {
  if (ids.length === 0) return null
  const rows = await tx.query<{ id: number }>(sql`
    select corporate_action_id as id from distribution
    where product_id = ${productID} and corporate_action_id = any(${ids}::int[])`)
  const there = new Set(rows.map(({ id }) => id))
  refuseAll(
    404,
    ids.flatMap((id, place): Problem[] => {
      const field = `corporateActionIDs[${place}]`
      if (there.has(id)) return []
      return [{ code: 'not_found', field, message: `No record was found for ${field} ${id}.` }]
    }),
  )
  return ids
}
type Asked = Pick<PaymentRunInput, 'corporateActionIDs'>

/** Refuses a funding account or a currency that does not fit the format of the file. */
function refuseUnfit({ format, fundingAccount }: PaymentRunInput, currencyID: number) {
  const needed: Record<string, ('bsb' | 'accountNumber' | 'bankCode' | 'userID')[]> = {
    ABA: ['bsb', 'accountNumber', 'bankCode', 'userID'],
    'pain.001': ['bsb', 'accountNumber'],
    'cheque list': [],
  }
  const problems = needed[format]!.flatMap((name): Problem[] =>
    fundingAccount[name]
      ? []
      : [
          {
            code: 'required',
            field: `fundingAccount.${name}`,
            message: `fundingAccount.${name} is needed for the format ${format}.`,
          },
        ],
  )
  refuseAll(400, problems)
  if (format === 'ABA') refuseAll(400, unfitForAba(fundingAccount))
  if (format === 'ABA' && currencyID !== lookups.Currency.AUD)
    throw invalid('other_currency', 'An ABA file is in Australian dollars.', 'currencyID')
}

/** The problems of the funding account in an ABA file, whose fields must not come out blank. */
function unfitForAba({ accountNumber, ...names }: PaymentRunInput['fundingAccount']) {
  const flaw = (name: string, message: string): Problem => ({
    code: 'invalid_value',
    field: `fundingAccount.${name}`,
    message,
  })
  const number = accountNumber ?? ''
  const nameless = (['remitterName', 'accountName'] as const).filter(
    (name) => !/[A-Z0-9]/.test(plain(names[name])),
  )
  return [
    ...(number.length > 9
      ? [flaw('accountNumber', 'An account number in an ABA file has at most 9 characters.')]
      : /^[0-9 -]*[1-9][0-9 -]*$/.test(number)
        ? []
        : [
            flaw(
              'accountNumber',
              'An account number in an ABA file has digits, blanks and hyphens.',
            ),
          ]),
    ...nameless.map((name) =>
      flaw(name, `An ABA file needs Latin letters or digits in the ${name}.`),
    ),
  ]
}

/**
 * Writes payments, their items and the exceptions in one SQL statement for any number. Items get
 * the id of their payment by window functions, not by a join: without statistics on the rows just
 * judged, the planner would compare each item with each payment.
 */
export const fill = (tx: Tx, terms: Terms, rows: Fragment, claimed: Fragment) =>
  tx.query(sql`
  with judged as materialized (${judged(terms, rows)}),
  begun as materialized (
    select j.*, case when row_number() over (
        partition by account_id, payee_key order by biz_transaction_id) = 1
      then nextval('payment_payment_id_seq') end as first_id
    from judged j where j.code is null),
  items as materialized (
    select b.*, max(first_id) over (partition by account_id, payee_key) as payment_id
    from begun b),
  paid as (
    insert into payment (product_id, payment_id, payment_run_id, account_id, amount, tax_amount,
      reference, payee_key, payee_name, payee_bsb, payee_account_number, payee_iban, payee_swift,
      entry_code)
    select ${terms.productID}::int, payment_id, ${terms.runID}::int, account_id, sum(amount),
      sum(tax_amount), 'PAY ' || payment_id, payee_key, min(payee_name), min(payee_bsb),
      min(payee_account_number), min(payee_iban), min(payee_swift),
      case when bool_or(source = 'Redemption') then '50' else '56' end
    from items group by payment_id, account_id, payee_key),
  excepted as (
    insert into payment_exception (product_id, payment_run_id, biz_transaction_id, account_id,
      amount, code)
    select ${terms.productID}::int, ${terms.runID}::int, biz_transaction_id, account_id, amount,
      code
    from judged where code is not null)
  ${claimed}`)

/** Takes the transactions into this run, except those that another run took meanwhile. */
const claim = ({ productID, runID }: Terms) => sql`
  insert into payment_item (product_id, biz_transaction_id, payment_run_id, payment_id, source,
    amount, tax_amount)
  select ${productID}::int, biz_transaction_id, ${runID}::int, payment_id, source, amount,
    tax_amount
  from items order by biz_transaction_id
  on conflict (product_id, biz_transaction_id) do nothing`

/**
 * Sets payments that lost items to the sum of the items left, and deletes payments without items.
 * `own` is the condition for the payments, by their alias.
 */
export async function dropEmpty(tx: Tx, productID: number, own: (alias: string) => Fragment) {
  const items = sql`select 1 from payment_item m where m.product_id = ${productID}
    and m.payment_id = p.payment_id`
  await keepLedgerRows(
    tx,
    'payment',
    sql`${own('t')} and not exists (
      select 1 from payment_item m
      where m.product_id = ${productID} and m.payment_id = t.payment_id
      having (sum(m.amount), sum(m.tax_amount)) = (t.amount, t.tax_amount))`,
  )
  await tx.query(sql`delete from payment p where ${own('p')} and not exists (${items})`)
  // Updates only payments that changed, each found by its key: usually all others of the run stay,
  // and without statistics on new rows the planner would compare each payment with each.
  await tx.query(sql`
    with summed as materialized (
      select t.payment_id, sum(m.amount) as amount, sum(m.tax_amount) as tax_amount
      from payment t join payment_item m
        on m.product_id = ${productID} and m.payment_id = t.payment_id
      where ${own('t')} group by t.payment_id, t.amount, t.tax_amount
      having (sum(m.amount), sum(m.tax_amount)) <> (t.amount, t.tax_amount))
    update payment p set amount = s.amount, tax_amount = s.tax_amount
    from summed s
    where p.product_id = ${productID} and p.payment_id = s.payment_id`)
}

/** The answer about a new run; refuses a run with neither payments nor exceptions. */
export async function answer(
  tx: Tx,
  actor: Actor,
  { productID, runID, processingDate, currencyID }: Terms,
  changes: object,
): Promise<Written> {
  const [any] = await tx.query<{ any: boolean }>(sql`
    select exists (select 1 from payment where product_id = ${productID}
        and payment_run_id = ${runID})
      or exists (select 1 from payment_exception where product_id = ${productID}
        and payment_run_id = ${runID}) as any`)
  if (!any!.any) {
    const what = `${currencyCodes[currencyID]} on ${processingDate}`
    throw conflict('nothing_to_pay', `There is nothing to pay in ${what} that is not in a run.`)
  }
  const rendered = await renderRun(tx, actor, { productID, id: runID })
  return { ...rendered, ids: [runID], productID, changes }
}
