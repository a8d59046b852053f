import type { TSchema } from 'typebox'
import {
  arrayOf,
  type Endpoint,
  type Request,
  reading,
  sharing,
  writing,
} from '../../platform/http/endpoint.ts'
import { turns } from '../../platform/http/turns.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { PostingDoor } from './door.ts'
import type { Effects } from './family.ts'
import type { Body, Operation } from './legs.ts'
import { post } from './post.ts'
import { rollBack } from './rollback.ts'
import {
  Adjustments,
  Allotments,
  BizTransaction,
  Conversion,
  Deposits,
  Redemptions,
  Rollback,
  SetQuantities,
  TransactionQuery,
  TransactionUpdate,
  Transfer,
} from './schema.ts'
import { readTransactions, unpackKept } from './sql.ts'
import { updateTransaction } from './update.ts'

const postingOf = (operation: Operation, { body, pathOf }: Request<unknown, unknown>) => ({
  operation,
  bodies: (Array.isArray(body) ? body : [body]) as Body[], // as the operation's schema has them
  path: pathOf,
})

const posting = (
  door: PostingDoor,
  operation: Operation,
  summary: string,
  body: TSchema,
): Endpoint =>
  sharing({
    operation: `POST /BizTransaction/${operation}`,
    event: 'biztransaction.posted',
    access: 'BizTransaction.Write',
    summary,
    resource: 'BizTransaction',
    body,
    data: arrayOf(BizTransaction),
    unpack: unpackKept,
    through: (request, write) => door(write, request.actor, postingOf(operation, request)),
    alone: async (request, tx) => {
      const posting = postingOf(operation, request)
      const [written] = await post(tx, request.actor, [posting], { waits: true })
      if (written instanceof Refusal) throw written
      return written!
    },
  })

/** The ETag leaves these out: other transactions change them, and only ShowClosing shows them. */
const closings = [
  'transactionClosingAmount',
  'transactionClosingQuantity',
  'accountClosingAmount',
  'accountClosingQuantity',
]

/** Updates and rollbacks may wait for an account; they must not use up all connections then. */
const inTurn = turns({
  most: 4,
  spare: 1,
  longestQueue: 500,
  full: 'Too many changes of transactions are waiting; try again shortly.',
})

export const bizTransactionEndpoints = (door: PostingDoor, effects: Effects): Endpoint[] => [
  reading({
    operation: 'GET /BizTransaction',
    access: 'BizTransaction.Read',
    summary: 'List transactions. ShowClosing adds the closing figures.',
    query: TransactionQuery,
    data: arrayOf(BizTransaction),
    etag: { by: ['BizTransactionID', 'ExternalBizTransactionId'], without: closings },
    read: ({ query, actor }, handle) => readTransactions(handle, actor, query),
  }),
  posting(
    door,
    'Deposit',
    'Post deposits: money comes in and units are issued at the application price.',
    Deposits,
  ),
  posting(door, 'Allotment', 'Post allotments: units are issued.', Allotments),
  posting(
    door,
    'Redemption',
    'Post redemptions: units are taken back and money is paid at the redemption price.',
    Redemptions,
  ),
  posting(door, 'Conversion', 'Convert units of one investment into units of another.', Conversion),
  posting(
    door,
    'Adjustment',
    'Adjust a holding by a quantity, which may be negative.',
    Adjustments,
  ),
  posting(
    door,
    'SetQuantity',
    'Set a holding to a quantity. The difference is posted.',
    SetQuantities,
  ),
  posting(door, 'Transfer', 'Move units from one account to another.', Transfer),
  writing({
    operation: 'PUT /BizTransaction',
    access: 'BizTransaction.Write',
    summary: 'Change a settled transaction. The version that it replaces is kept.',
    resource: 'BizTransaction',
    inTurn,
    body: TransactionUpdate,
    data: arrayOf(BizTransaction),
    write: ({ body, actor }, tx) => updateTransaction(tx, actor, body, effects),
  }),
  writing({
    operation: 'PUT /BizTransaction/Rollback',
    event: 'biztransaction.rolledback',
    access: 'BizTransaction.Write',
    summary:
      'Roll back transactions, including the other legs of transfers and conversions. Residuals ' +
      'that PayResiduals paid are left again.',
    resource: 'BizTransaction',
    inTurn,
    body: Rollback,
    data: arrayOf(BizTransaction),
    write: ({ body, actor }, tx) => rollBack(tx, actor, body, effects),
  }),
]
