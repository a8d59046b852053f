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
    timestamp: { ...DateTime, description: 'When the event happened.' },
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
    summary: 'An event, sent shortly after it happened.',
    description:
      'Follows the Standard Webhooks specification. Every event is sent at least once, always ' +
      'with the same `webhook-id`, and not necessarily in order.',
    headers: {
      'webhook-id': 'The id of the message. It is the same each time the same event is sent.',
      'webhook-timestamp': 'The time of sending, in seconds since 1 January 1970 (UTC).',
      'webhook-signature':
        '`v1,` followed by the HMAC-SHA256 of `id.timestamp.body` in base64. While a replaced ' +
        'secret is still valid, there are two such signatures, separated by a space.',
    },
    body: WebhookEvent,
  },
]
