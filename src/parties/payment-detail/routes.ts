import { arrayOf, nothing, streaming, writing } from '../../platform/http/endpoint.ts'
import { createOwned, deleteOwned, updateOwned } from '../investor/owned.ts'
import {
  PaymentDetail,
  PaymentDetailInput,
  PaymentDetailInputs,
  PaymentDetailKey,
  PaymentDetailQuery,
  PaymentDetailUpdate,
  paymentDetailParameter,
} from './schema.ts'
import { paymentDetailKind, readPaymentDetails, selectPaymentDetails } from './sql.ts'

export const paymentDetailEndpoints = [
  streaming({
    operation: 'GET /PaymentDetail',
    access: 'PaymentDetail.Read',
    summary:
      'Read one payment detail, those of an entity, or all of them, streamed or page by page.',
    description:
      'Without PageNumber, PageSize, Cursor, Order and IncludeTotal, the answer has all of them.',
    query: PaymentDetailQuery,
    data: arrayOf(PaymentDetail),
    etag: { by: paymentDetailParameter.fields },
    select: ({ query, actor }) => selectPaymentDetails(actor, query),
    page: ({ query, actor }, handle) => readPaymentDetails(handle, actor, query),
  }),
  writing({
    operation: 'POST /PaymentDetail',
    access: 'PaymentDetail.Write',
    summary: 'Create payment details. A new default replaces the previous one.',
    resource: 'PaymentDetail',
    body: PaymentDetailInputs,
    data: arrayOf(PaymentDetail),
    write: ({ body, pathOf, actor }, tx) =>
      createOwned(tx, actor, paymentDetailKind, PaymentDetailInput, body, pathOf),
  }),
  writing({
    operation: 'PUT /PaymentDetail',
    access: 'PaymentDetail.Write',
    summary: 'Replace a payment detail. A new default replaces the previous one.',
    resource: 'PaymentDetail',
    body: PaymentDetailUpdate,
    data: arrayOf(PaymentDetail),
    write: ({ body, actor }, tx) => updateOwned(tx, actor, paymentDetailKind, body),
  }),
  writing({
    operation: 'DELETE /PaymentDetail',
    access: 'PaymentDetail.Write',
    summary: 'Delete a payment detail.',
    resource: 'PaymentDetail',
    query: PaymentDetailKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteOwned(tx, actor, paymentDetailKind, query),
  }),
]
