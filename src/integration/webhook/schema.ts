import { type Static, Type } from 'typebox'
import { eventTypes } from '../../platform/event-types.ts'
import { paging } from '../../platform/http/paging.ts'
import {
  DateTime,
  Flag,
  Id,
  LongId,
  optional,
  sensitive,
  shown,
  text,
  textThat,
} from '../../platform/shape/fields.ts'
import { isWebAddress } from './address.ts'

const Types = Type.Unsafe<string[]>({
  type: 'array',
  items: { type: 'string', enum: eventTypes },
  maxItems: 200,
  description: 'The types of event to send. Empty or left out: all types.',
})
const ProductIDs = Type.Array(Id, {
  maxItems: 1000,
  description:
    'The products whose events are sent. Empty or left out: all products that you can see.',
})
const fields = {
  url: textThat(2000, isWebAddress, 'must be an https address without a user and password', {
    description: 'The address that events are sent to, by POST.',
  }),
  types: optional(Types),
  productIDs: optional(ProductIDs),
  isActive: optional(Type.Boolean({ description: 'Whether events are sent.' })),
  description: optional(text(500)),
}
const example = { url: 'https://example.com/registry', types: ['biztransaction.posted'] }

export const WebhookInput = Type.Object(fields, { $id: 'WebhookInput', example })
export const WebhookUpdate = Type.Object(
  { webhookID: Id, ...fields, url: optional(fields.url) },
  { $id: 'WebhookUpdate', example: { webhookID: 1, ...example, isActive: true } },
)
export const WebhookKeyBody = Type.Object(
  { webhookID: Id },
  { $id: 'WebhookName', example: { webhookID: 1 } },
)
export const WebhookKey = Type.Object({ WebhookID: Id })
export const WebhookQuery = Type.Object({ WebhookID: optional(Id), ...paging })

const own = {
  webhookID: Id,
  url: Type.String({ description: 'The address that events are sent to, by POST.' }),
  types: Type.Array(Type.String(), {
    description: 'The types of event that are sent; empty: all types.',
  }),
  productIDs: Type.Array(Type.Integer(), {
    description: 'The products whose events are sent; empty: all products.',
  }),
  isActive: Flag,
  description: Type.String(),
  failureCount: Type.Integer({ description: 'How many deliveries have failed in a row.' }),
  userID: Type.Integer({ description: 'The user whose rights decide what is sent.' }),
  apiKeyID: Type.Integer({
    description:
      'The API key with which the webhook was last saved; its limits apply too. Null: no key ' +
      'was used.',
  }),
  createdDate: DateTime,
  updatedDate: DateTime,
}
export const Webhook = shown('Webhook', own)
export const WebhookWithSecret = shown('WebhookWithSecret', {
  ...own,
  secret: sensitive(
    Type.String({
      description:
        'The secret that signs the messages. It is shown only in this answer. Keep it safe.',
    }),
  ),
})

export const Delivery = shown('WebhookDelivery', {
  webhookDeliveryID: LongId,
  webhookID: Id,
  eventID: Type.Integer({ description: 'The event that is sent; null for a test message.' }),
  type: Type.String(),
  status: Type.Unsafe<string>({ type: 'string', enum: ['pending', 'delivered', 'failed'] }),
  attempts: Type.Integer({ description: 'How many times delivery was tried.' }),
  nextDate: Type.String({ format: 'date-time', description: 'When delivery will be tried next.' }),
  responseStatus: Type.Integer({ description: 'The last answer of the receiver.' }),
  errorMessage: Type.String(),
  createdDate: DateTime,
  completedDate: DateTime,
})

const Status = Type.Unsafe<'pending' | 'delivered' | 'failed'>({
  type: 'string',
  enum: ['pending', 'delivered', 'failed'],
})
export const DeliveryQuery = Type.Object({
  WebhookID: optional(Id),
  Status: optional(Status),
  ...paging,
})

export const Replay = Type.Object(
  {
    webhookID: Id,
    from: optional(Type.String({ format: 'date-time', description: 'Events from this moment.' })),
    to: optional(Type.String({ format: 'date-time', description: 'Events up to this moment.' })),
    eventIDs: optional(
      Type.Array(LongId, { minItems: 1, maxItems: 1000, description: 'These events.' }),
    ),
  },
  { $id: 'WebhookReplay', example: { webhookID: 1, from: '2026-07-01T00:00:00Z' } },
)

export type WebhookInput = Static<typeof WebhookInput>
export type WebhookUpdate = Static<typeof WebhookUpdate>
export type WebhookName = Static<typeof WebhookKeyBody>
export type WebhookKey = Static<typeof WebhookKey>
export type WebhookQuery = Static<typeof WebhookQuery>
export type DeliveryQuery = Static<typeof DeliveryQuery>
export type Replay = Static<typeof Replay>
