import type { Resource } from './permission.ts'

/**
 * Every type of event, grouped by the resource whose Read permission is needed to see it. A new
 * operation declares its types here, and names the one it raises in its declaration (`event`),
 * unless its method and path already determine it.
 */
const happenings = {
  Product: { product: ['created', 'updated', 'deleted'] },
  Investment: {
    investment: ['created', 'updated', 'deleted'],
    investmentprice: ['created', 'updated', 'deleted'],
  },
  BizEntity: {
    bizentity: ['created', 'updated', 'deleted'],
    bizentityparent: ['created', 'updated', 'deleted'],
  },
  Person: { person: ['created', 'updated', 'deleted'] },
  Organisation: { organisation: ['created', 'updated', 'deleted'] },
  Address: { address: ['created', 'updated', 'deleted'] },
  Communication: { communication: ['created', 'updated', 'deleted'] },
  PaymentDetail: { paymentdetail: ['created', 'updated', 'deleted'] },
  BizTransaction: { biztransaction: ['posted', 'updated', 'rolledback'] },
  BizEvent: { bizevent: ['created', 'completed', 'cancelled'] },
  Distribution: {
    distribution: ['configured', 'updated', 'deleted', 'declared', 'paid', 'completed', 'reversed'],
  },
  Tax: { withholdingrate: ['created', 'updated', 'deleted'] },
  PaymentRun: {
    paymentrun: ['created', 'approved', 'sent', 'updated', 'closed', 'deleted'],
    payment: ['returned'],
  },
  Document: { document: ['created', 'updated', 'deleted'] },
  Hold: { hold: ['created', 'updated', 'deleted'] },
  Report: { report: ['created', 'completed', 'failed', 'deleted'] },
  Import: { import: ['created', 'completed', 'failed', 'cancelled'] },
  Webhook: { webhook: ['created', 'updated', 'deleted', 'deactivated'] },
  User: { user: ['created', 'updated'], apikey: ['created', 'deleted'] },
  Approval: { approval: ['requested', 'approved', 'rejected', 'cancelled'] },
  ApprovalRule: { approvalrule: ['created', 'updated', 'deleted'] },
} as const satisfies Partial<Record<Resource, Record<string, readonly string[]>>>

type Things<T> = T extends unknown
  ? {
      [K in keyof T & string]: T[K] extends readonly (infer V extends string)[]
        ? `${K}.${V}`
        : never
    }[keyof T & string]
  : never
export type EventType = Things<(typeof happenings)[keyof typeof happenings]>

/** The resource of each event type; its Read permission decides who sees the event. */
export const resourceOfEvent: ReadonlyMap<string, Resource> = new Map(
  Object.entries(happenings).flatMap(([resource, things]) =>
    Object.entries(things).flatMap(([thing, verbs]) =>
      verbs.map((verb: string): [string, Resource] => [`${thing}.${verb}`, resource as Resource]),
    ),
  ),
)

export const eventTypes = [...resourceOfEvent.keys()] as EventType[]

const verbs: Record<string, string> = { POST: 'created', PUT: 'updated', DELETE: 'deleted' }

/**
 * The event type that follows from an operation's method and path: `POST /Product` raises
 * `product.created`.
 */
export function usualEvent(operation: string): EventType | undefined {
  const [method = '', path = ''] = operation.split(' ')
  const type = `${path.replaceAll('/', '').toLowerCase()}.${verbs[method]}`
  return resourceOfEvent.has(type) ? (type as EventType) : undefined
}
