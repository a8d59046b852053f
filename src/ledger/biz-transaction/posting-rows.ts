import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { type Name, nameOf } from '../../platform/sql/identify.ts'
import type { Write } from '../../platform/sql/unit-of-work.ts'
import type { PostingRequest } from './item.ts'
import { type Body, legsOf } from './legs.ts'

/** A request that is posted at once, and what is told of it. */
export type AtOnce = { write: Write; request: PostingRequest }

/** What the statement of postings at once is given of each posting, by column. */
const postingTypes = {
  place: 'int',
  type_id: 'smallint',
  account_name: '',
  investment_name: '',
  product_name: '',
  transaction_date: 'date',
  quantity: 'numeric',
  amount: 'numeric',
  price: 'numeric',
  fee: 'numeric',
  fee_override: 'numeric',
  fee_percentage: 'numeric',
  fee_discount: 'numeric',
  external_id: 'text',
  comment: 'text',
  made_by_quantity: 'boolean',
}

/** And of each request. */
export const requestTypes = {
  request: 'int',
  user_id: 'int',
  username: 'text',
  operation: 'text',
  request_id: 'text',
  changes: 'text',
  key: 'text',
  fingerprint: 'text',
}

type Types = Readonly<Record<string, string>>
const allTypes: Types = { ...postingTypes, ...requestTypes }

/** Of an array what is said of the request is given once; else with the posting that it is. */
export const typesOf = (isArray: boolean): Types => (isArray ? postingTypes : allTypes)

export const columns: readonly string[] = Object.keys(allTypes)

export type Row = Record<string, string | number | boolean | null | undefined>

const valued = (name: Name | undefined) => name?.value

/** One posting as it was asked for. */
export type Asked = Pick<PostingRequest, 'operation'> & { body: Body }

export function rowOf({ operation, body }: Asked): Row {
  const leg = legsOf(operation, body)[0]! // these operations have one
  return {
    place: 0, // among all; see at-once.ts
    type_id: leg.typeID,
    account_name: valued(nameOf(accountReference, body)),
    investment_name: valued(nameOf(investmentReference, body)),
    product_name: valued(nameOf(productReference, body)),
    transaction_date: body.transactionDate,
    quantity: leg.quantity,
    amount: leg.amount,
    price: leg.price,
    fee: leg.fee?.entryFeeAmount,
    fee_override: leg.fee?.entryFeeOverridePercentage,
    fee_percentage: leg.fee?.entryFeePercentage,
    fee_discount: leg.fee?.entryFeeDiscountPercentage,
    external_id: leg.externalID,
    comment: body.comment,
    made_by_quantity: leg.quantity !== undefined && leg.amount === undefined ? true : null,
  }
}

/** What is said of a request, by its place among all. */
export const requestRow = ({ write, request }: AtOnce, place: number): Row => ({
  request: place,
  user_id: write.userID,
  username: write.username,
  operation: write.operation,
  request_id: write.requestID,
  changes: JSON.stringify(request.bodies.length > 1 ? request.bodies : request.bodies[0]),
  key: write.retry?.key,
  fingerprint: write.retry?.fingerprint.toString('hex'),
})
