import {
  fromInvestmentReference,
  investmentReference,
  toInvestmentReference,
} from '../../catalogue/investment/schema.ts'
import {
  accountReference,
  fromAccountReference,
  toAccountReference,
} from '../../parties/account/reference.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Code } from '../../platform/problem-codes.ts'
import type { Problem } from '../../platform/refusal.ts'
import { firstDate } from '../../platform/shape/dates.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Reference } from '../../platform/sql/identify.ts'
import type { Adjustment, Conversion, Deposit, Transfer } from './schema.ts'

const { BizTransactionType: types, ConversionMethod: methods } = lookups

/** The seven ways to change units, as the API names them. */
export type Operation =
  | 'Deposit'
  | 'Allotment'
  | 'Redemption'
  | 'Adjustment'
  | 'SetQuantity'
  | 'Conversion'
  | 'Transfer'

/** Any of the bodies; each kind uses its own fields. */
export type Body = Partial<Deposit & Adjustment & Conversion & Transfer>

/** A transaction as it was asked for, before its names are resolved and it is priced. */
export type Leg = {
  typeID: number
  account: Reference
  investment: Reference
  quantity?: string | undefined
  amount?: string | undefined
  price?: string | undefined
  externalID?: string | undefined
  /** The body's field for price, where it is not investmentPrice. */
  priceField?: string
  /** The body's field for externalID, where it is not externalBizTransactionId. */
  externalIDField?: string
  /** The entry fee as asked for; only deposits have one. */
  fee?: Partial<Deposit> | undefined
  /** How the second leg of a conversion follows from the first. */
  conversion?: { methodID: number; factor: string | undefined }
  /** The units take their cost along, and no gain is realised. */
  carries: boolean
}

/** The legs that a body asks for: two for a transfer or a conversion. */
export function legsOf(operation: Operation, body: Body): Leg[] {
  switch (operation) {
    case 'Deposit':
      return [legOf(body, types.Deposit)]
    case 'Allotment':
      return [legOf(body, types.Allotment)]
    case 'Redemption':
      return [legOf(body, types.Redemption)]
    case 'Adjustment':
      return [legOf(body, types.Adjustment)]
    case 'SetQuantity':
      return [legOf(body, types['Set quantity'])]
    case 'Transfer':
      return [
        legOf(body, types['Transfer out'], fromAccountReference),
        { ...legOf(body, types['Transfer in'], toAccountReference), externalID: undefined },
      ]
    case 'Conversion':
      return conversionLegs(body)
  }
}

const legOf = (body: Body, typeID: number, account = accountReference): Leg => ({
  typeID,
  account,
  investment: investmentReference,
  quantity: body.quantity,
  amount: body.amount,
  price: body.investmentPrice,
  externalID: body.externalBizTransactionId,
  fee: typeID === types.Deposit ? body : undefined,
  carries: body.costBasis === 'Carry' || isTakenOut(typeID, body),
})

/** An adjustment that takes units out without an amount takes their cost along. */
const isTakenOut = (typeID: number, { quantity, amount }: Body) =>
  typeID === types.Adjustment && amount === undefined && quantity?.startsWith('-') === true

function conversionLegs(body: Body): Leg[] {
  const { quantity, amount, conversionFactor, conversionMethod } = body
  const byFactor = conversionMethod ? conversionMethod === 'Factor' : conversionFactor !== undefined
  return [
    {
      typeID: types['Conversion out'],
      account: accountReference,
      investment: fromInvestmentReference,
      quantity,
      amount,
      price: body.fromInvestmentPrice,
      priceField: 'fromInvestmentPrice',
      externalID: body.fromExternalBizTransactionId,
      externalIDField: 'fromExternalBizTransactionId',
      carries: byFactor,
    },
    {
      typeID: types['Conversion in'],
      account: accountReference,
      investment: toInvestmentReference,
      price: body.toInvestmentPrice,
      priceField: 'toInvestmentPrice',
      externalID: body.toExternalBizTransactionId,
      externalIDField: 'toExternalBizTransactionId',
      conversion: {
        methodID: byFactor ? methods.Factor : methods.Price,
        factor: byFactor ? conversionFactor : undefined,
      },
      carries: byFactor,
    },
  ]
}

type Asked = { operation: Operation; body: Body; path: string }

/** The problems of a body that can be found without the database. */
export function problemsOf({ operation, body, path }: Asked): Problem[] {
  const at = (field: string) => inside(path, field)
  const problem = (code: Code, field: string, words: string): Problem => ({
    code,
    field: at(field),
    message: `${at(field)} ${words}.`,
  })
  const problems: Problem[] = []
  const { transactionDate, amount, quantity } = body
  if (transactionDate === undefined)
    problems.push(problem('required', 'transactionDate', 'is required'))
  else if (transactionDate < firstDate)
    // The schema refuses it in a body, but notices of earlier versions may have such a day.
    problems.push(problem('out_of_range', 'transactionDate', `is before ${firstDate}`))
  if (operation === 'Deposit' && amount === undefined)
    problems.push(problem('required', 'amount', 'is required'))
  if (needsFigure.has(operation) && amount === undefined && quantity === undefined)
    problems.push(problem('required', 'quantity', 'or amount is required'))
  if (operation === 'Adjustment') {
    if (quantity === '0') problems.push(problem('invalid_value', 'quantity', 'must not be 0'))
    if (amount && amount !== '0' && amount.startsWith('-') !== quantity?.startsWith('-'))
      problems.push(problem('invalid_value', 'amount', 'must have the sign of the quantity'))
  }
  if (operation === 'Conversion' && body.conversionMethod === 'Factor' && !body.conversionFactor)
    problems.push(problem('required', 'conversionFactor', 'is required for the method Factor'))
  return problems
}

const needsFigure = new Set<Operation>(['Allotment', 'Redemption', 'Conversion'])
