import assert from 'node:assert/strict'
import type { Client } from './client.ts'
import { rowsOf } from './database.ts'
import { all, type Fund, newFund, only, poster } from './ledger.ts'
import { registryOf } from './registry.ts'
import type { Service } from './service.ts'

/** Tax components with the whole distribution in one of them. */
export const oneComponent = [{ taxComponentName: 'CapitalGains', percentage: 100 }]

/** A fund with an account for each item of `units`, which holds so many units from `from` on. */
export async function fundOf(
  service: Service,
  units: (number | string)[],
  options: { investments?: object[]; from?: string } = {},
): Promise<Fund> {
  const { investments = [{}], from = '2024-01-01' } = options
  const fund = await newFund(service, { accounts: units.length, investments })
  const holding = units.flatMap((quantity, i) =>
    Number(quantity) > 0 ? [{ accountID: fund.accounts[i]!.accountID, quantity }] : [],
  )
  if (holding.length > 0) await allot(service, fund, holding, from)
  return fund
}

export const allot = async (service: Service, fund: Fund, items: object[], date: string) =>
  all(
    await poster(() => service.admin)(
      'Allotment',
      items.map((item) => ({ investmentID: fund.investmentID, transactionDate: date, ...item })),
    ),
  )

export const account = (fund: Fund, i: number) => fund.accounts[i]!.accountID

/** How an account takes part in the DRP: 1 none, 2 full, 3 percentage, 4 units. */
export const choose = (
  service: Pick<Service, 'connection'>,
  accountID: number,
  type: number,
  value?: number | string,
) =>
  rowsOf(
    service.connection,
    'update account set drp_type_id = $2, drp_value = $3 where account_id = $1',
    [accountID, type, value ?? null],
  )

/** Adds a bank account to the entity of an account. */
export async function newPaymentDetail(
  { connection }: Service,
  accountID: number,
  how: { isForDistribution?: boolean; isDefault?: boolean } = {},
): Promise<number> {
  const { isForDistribution = true, isDefault = false } = how
  const [row] = await rowsOf(
    connection,
    `insert into payment_detail (biz_entity_id, payment_type_id, bsb, account_number, account_name,
      is_for_deposit, is_for_distribution, is_for_redemption, is_for_other, is_default)
    select biz_entity_id, 1, '062000', '12345678', 'Holder', true, $2, false, false, $3
    from account where account_id = $1 returning payment_detail_id as id`,
    [accountID, isForDistribution, isDefault],
  )
  return row.id
}

export type Distribution = { productID: number; corporateActionID: number }

/** Creates a distribution with all required fields: record date 2025-06-30, paid 2025-07-15. */
export const configure = (
  { admin }: Pick<Service, 'admin'>,
  { productID, investmentID }: Pick<Fund, 'productID' | 'investmentID'>,
  more: object,
) =>
  registryOf(admin).post('/Distribution', {
    productID,
    investmentID,
    recordDate: '2025-06-30',
    paymentDate: '2025-07-15',
    taxComponents: oneComponent,
    ...more,
  })

export const keyOf = ({ productID, corporateActionID }: Distribution) => ({
  productID,
  corporateActionID,
})

/** Runs a stage that must succeed; returns the distribution after it. */
export const stage = async (
  client: Client,
  name: 'Declare' | 'Payment' | 'DrpAllotment' | 'Reverse',
  distribution: Distribution,
  more: object = {},
) => only(await client.post(`/Distribution/${name}`, bodyOf(name, distribution, more)))

/** Confirms declarations: most tests run several distributions with one record date. */
const bodyOf = (name: string, distribution: Distribution, more: object) => ({
  ...keyOf(distribution),
  ...(name === 'Declare' && { confirmSecond: true }),
  ...more,
})

/** Reverses the stage that led to this status. */
export const takeBack = (client: Client, distribution: Distribution, fromStatusID: number) =>
  stage(client, 'Reverse', distribution, { fromStatusID, reason: 'tried' })

/** Closes an account the day after it has sold all it held of the fund. */
export async function close(service: Service, fund: Fund, place: number, quantity: number) {
  const accountID = account(fund, place)
  const sale = { accountID, investmentID: fund.investmentID, quantity, investmentPrice: 1 }
  const body = { ...sale, transactionDate: '2025-07-20' }
  only(await service.admin.post('/BizTransaction/Redemption', body))
  await rowsOf(
    service.connection,
    'update account set account_status_id = 3 where account_id = $1',
    [accountID],
  )
}

/** The entitlement of each account, in the order of the accounts. */
export const entitled = async (client: Client, { productID, corporateActionID }: Distribution) =>
  all(
    await client.get(
      `/Distribution/Account?ProductID=${productID}&CorporateActionID=${corporateActionID}` +
        '&PageSize=1000',
    ),
  )

/** Configures and declares a distribution; returns gross amounts in the order of the accounts. */
export async function grossOf(service: Service, fund: Fund, more: object, lists: object = {}) {
  const distribution = await configure(service, fund, more)
  await stage(service.admin, 'Declare', distribution, lists)
  const rows = await entitled(service.admin, distribution)
  return rows.map(({ grossAmount }: { grossAmount: number }) => grossAmount)
}

/** A hash of all rows of each table, as one text. */
export async function fingerprint({ connection }: Pick<Service, 'connection'>): Promise<string> {
  const tables = await rowsOf(
    connection,
    `select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  )
  const hashes = tables.map(
    ({ name }) => `select '${name}' as t, coalesce(md5(string_agg(md5(x::text), '' order by
      md5(x::text))), '') as h from ${name} x`,
  )
  const rows = await rowsOf(connection, `${hashes.join(' union all ')} order by t`)
  return JSON.stringify(rows)
}

/**
 * Compares what the holdings of a product show of distributions at a day (today, if it is '') with
 * the sums over all their entitlements and payments of residuals.
 */
export async function assertFigures(service: Service, productID: number, day: string) {
  const path = `/BizEntity/Account/Holdings?ProductID=${productID}&PageSize=1000`
  const shown = await service.admin.get(day ? `${path}&Date=${day}` : path)
  const places = shown.data.map(({ accountID, investmentID }: Position) => [
    accountID,
    investmentID,
  ])
  const sums = await rowsOf(service.connection, sumsOfHoldings, [
    productID,
    day || null,
    places.map(([accountID]: number[]) => accountID),
    places.map(([, investmentID]: number[]) => investmentID),
  ])
  const figures = shown.data.map((one: Position) => ({
    declared: one.distributionEntitlement,
    paid: one.distributionsPaid,
    residual: one.drpResidual,
  }))
  const expected = sums.map((row) => ({
    declared: Number(row.declared),
    paid: Number(row.paid),
    residual: Number(row.residual),
  }))
  assert.deepEqual(figures, expected, `at ${day || 'the end of today'}`)
}

type Position = Record<
  'accountID' | 'investmentID' | 'distributionEntitlement' | 'distributionsPaid' | 'drpResidual',
  number
>

const sumsOfHoldings = `
  select coalesce(sum(e.gross_amount) filter (where d.record_date <= n.day
      and (d.distribution_status_id = 2 or d.payment_date > n.day)), 0) as declared,
    coalesce(sum(e.gross_amount) filter (
      where d.distribution_status_id > 2 and d.payment_date <= n.day), 0) as paid,
    coalesce(sum(e.drp_residual - e.residual_before) filter (
      where coalesce(d.drp_allotment_date, d.payment_date) <= n.day), 0) - (
        select coalesce(sum(r.amount), 0) from residual_payment r
        where r.product_id = n.product_id and r.account_id = h.account_id
          and r.investment_id = h.investment_id and r.reversed_date is null
          and r.payment_date <= n.day) as residual
  from (select $1::int as product_id, coalesce($2::date, current_date) as day) n
  cross join unnest($3::int[], $4::int[]) with ordinality h (account_id, investment_id, place)
  left join entitlement e on e.product_id = n.product_id and e.account_id = h.account_id
    and e.investment_id = h.investment_id
  left join distribution d on d.product_id = e.product_id
    and d.corporate_action_id = e.corporate_action_id
  group by n.product_id, n.day, h.account_id, h.investment_id, h.place order by h.place`
