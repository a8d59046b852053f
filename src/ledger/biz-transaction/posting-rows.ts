import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { type Name, nameOf } from '../../platform/sql/identify.ts'
import type { Write } from '../../platform/sql/unit-of-work.ts'
import type { PostingRequest } from './item.ts'
import { type Body, legsOf } from './legs.ts'

/** A request that is posted at once, and what is told of it. */
export type AtOnce = { write: Write; request: PostingRequest }

/** What the statement of postings at once is given of each, by column. */
export const types = {
  place: 'int',
  request: 'int',
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
  user_id: 'int',
  // What the audit record tells of a request stands with its first posting.
  username: 'text',
  operation: 'text',
  request_id: 'text',
  changes: 'text',
  key: 'text',
  fingerprint: 'text',
}

export const columns: readonly string[] = Object.keys(types)

export type Row = Record<string, string | number | boolean | null | undefined>

const valued = (name: Name | undefined) => name?.value

/** One posting as it was asked for. */
export type Asked = Pick<PostingRequest, 'operation'> & { body: Body }

export function rowOf({ operation, body }: Asked): Row {
  const leg = legsOf(operation, body)[0]! // these operations have one
  return {
    place: 0, // among all; see at-once.ts
    request: null,
    user_id: null,
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

/** Those of a request, by its place among them; what is told of it stands with the first. */
export const rowsOf = ({ write, request: { operation, bodies } }: AtOnce, request: number): Row[] =>
  bodies.map((body, i) => {
    const row = rowOf({ operation, body })
    row.request = request
    row.user_id = write.userID
    return i === 0 ? Object.assign(row, toldOnce(write, bodies)) : row
  })

const toldOnce = (write: Write, bodies: readonly Body[]) => ({
  username: write.username,
  operation: write.operation,
  request_id: write.requestID,
  changes: JSON.stringify(bodies.length > 1 ? bodies : bodies[0]),
  key: write.retry?.key,
  fingerprint: write.retry?.fingerprint.toString('hex'),
})
