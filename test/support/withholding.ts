import { entityOf } from './investors.ts'
import { newInvestment, newProduct, only, poster, type Reached } from './ledger.ts'

/** A product that withholds tax, with an investment and another one to reinvest in. */
export async function taxingFund(service: Reached, more: object = {}) {
  const { productID } = await newProduct(service, { withholding: true, ...more })
  const { investmentID } = await newInvestment(service, productID)
  const target = await newInvestment(service, productID, { unitDecimals: 0 })
  return { productID, investmentID, targetID: target.investmentID as number }
}
export type TaxingFund = Awaited<ReturnType<typeof taxingFund>>

export const tfn = { taxationFileNumber: '123456782' }
export const quoted = { person: { firstName: 'Quincy', ...tfn, taxationCountryCode: 'AUS' } }
export const unquoted = { person: { firstName: 'Una', taxationCountryCode: 'AUS' } }
export const abroad = (taxationCountryCode: string) => ({
  person: { firstName: 'Abe', taxationCountryCode },
})

type Investor = { units?: number | string; account?: object; [field: string]: unknown }

/** Creates an investor with these parties, and allots so many units. */
export async function investor(
  service: Reached,
  { productID, investmentID }: TaxingFund,
  parties: object[],
  { units = 1000, account = {}, ...more }: Investor = {},
) {
  const entity = only(
    await service.admin.post(
      '/BizEntity',
      entityOf(productID, {
        accounts: [{ productID, ...account }],
        bizEntityParties: parties,
        ...more,
      }),
    ),
  )
  const { accountID } = entity.accounts[0]
  const posting = { accountID, investmentID, quantity: units, amount: units }
  only(
    await poster(() => service.admin)('Allotment', { ...posting, transactionDate: '2024-01-01' }),
  )
  return { accountID: accountID as number, bizEntityID: entity.bizEntityID as number }
}
