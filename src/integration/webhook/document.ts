import { Type } from 'typebox'
import { eventTypes } from '../../platform/event-types.ts'
import type { Webhook } from '../../platform/http/openapi.ts'
import { DateTime } from '../../platform/shape/fields.ts'
import { RegistryEvent } from '../event/schema.ts'

const sent = ['eventID', 'productID', 'resource', 'ids', 'counts', 'userID']

/** The body that `insertDeliveries` in deliver.ts builds for an event. */
const WebhookEvent = Type.Object(
  {
    type: Type.Unsafe<string>({ type: 'string', enum: eventTypes }),
    timestamp: { ...DateTime, description: 'When it happened.' },
    data: Type.Object(
      Object.fromEntries(
        Object.entries(RegistryEvent.properties).filter(([name]) => sent.includes(name)),
      ),
    ),
  },
  { $id: 'WebhookEvent' },
)

/** The requests that a receiver gets, as the OpenAPI document describes them. */
export const webhookDocument: readonly Webhook[] = [
  {
    name: 'event',
    operationId: 'receiveEvent',
    tag: 'Webhook',
    summary: 'An event, as it happened.',
    description:
      'By the Standard Webhooks contract. At least once, under the same `webhook-id`; not ' +
      'necessarily in order.',
    headers: {
      'webhook-id': 'The same whenever the same event is sent.',
      'webhook-timestamp': 'When it is sent, in seconds since 1970.',
      'webhook-signature':
        '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; two, separated by a blank, ' +
        'while a replaced secret is still valid.',
    },
    body: WebhookEvent,
  },
]
