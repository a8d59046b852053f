import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { type Name, nameOf } from '../../platform/sql/identify.ts'
import type { Write } from '../../platform/sql/unit-of-work.ts'
import type { PostingRequest } from './item.ts'
import { type Body, legsOf } from './legs.ts'

/** A request for the single SQL statement of at-once.ts, with what is recorded about it. */
export type AtOnce = { write: Write; request: PostingRequest }

/** The columns that the SQL statement of at-once.ts receives for each posting, with their types. */
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

/** The columns that it receives for each request. */
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

/** An array sends the columns of its request once; a single posting sends them with its own. */
export const typesOf = (isArray: boolean): Types => (isArray ? postingTypes : allTypes)

export const columns: readonly string[] = Object.keys(allTypes)

export type Row = Record<string, string | number | boolean | null | undefined>

const valued = (name: Name | undefined) => name?.value

/** One posting as the caller asked for it. */
export type Asked = Pick<PostingRequest, 'operation'> & { body: Body }

export function rowOf({ operation, body }: Asked): Row {
  const leg = legsOf(operation, body)[0]! // the operations posted at once have one leg
  return {
    place: 0, // at-once.ts sets the place among all rows
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

/** The columns of one request; `place` is its place in the list. */
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
