import { Type } from 'typebox'
import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { Id } from '../../platform/shape/fields.ts'
import { refuseAddress } from './address.ts'
import { repeats } from './attempt.ts'
import { replayEvents, testWebhook } from './deliver.ts'
import {
  Delivery,
  DeliveryQuery,
  Replay,
  Webhook,
  WebhookInput,
  WebhookKey,
  WebhookKeyBody,
  WebhookQuery,
  WebhookUpdate,
  WebhookWithSecret,
} from './schema.ts'
import {
  createWebhook,
  deleteWebhook,
  readDeliveries,
  readWebhooks,
  rotateSecret,
  type Seal,
  updateWebhook,
} from './sql.ts'

const change = { access: 'Webhook.Write', resource: 'Webhook' } as const

export const webhookEndpoints = (seal: Seal, allowLocal: boolean): Endpoint[] => [
  ...registering(seal, allowLocal),
  ...delivering(seal),
]

const registering = (seal: Seal, allowLocal: boolean): Endpoint[] => [
  reading({
    operation: 'GET /Webhook',
    access: 'Webhook.Read',
    summary: 'List webhooks: where events are sent to.',
    query: WebhookQuery,
    data: arrayOf(Webhook),
    etag: { by: ['WebhookID'], without: ['failureCount'] },
    read: ({ query, actor }, handle) => readWebhooks(handle, actor, query),
  }),
  writing({
    operation: 'POST /Webhook',
    ...change,
    secret: true,
    summary: 'Have events sent to an address, from now on.',
    description:
      'By the Standard Webhooks contract: the headers `webhook-id`, `webhook-timestamp` and ' +
      '`webhook-signature` sign the body with the secret that this answer shows once. You are ' +
      'sent what you may read yourself. What is not answered with 2xx is sent again, up to ' +
      `${repeats.count} times in ${repeats.hours} hours.`,
    body: WebhookInput,
    data: arrayOf(WebhookWithSecret),
    write: ({ body, actor }, tx) => {
      refuseAddress(body.url, allowLocal)
      return createWebhook(tx, actor, body, seal)
    },
  }),
  writing({
    operation: 'PUT /Webhook',
    ...change,
    summary: 'Change a webhook; what is left out stays. It acts for you from then on.',
    description:
      'A webhook that was inactive, or whose user or API key had ended, is then sent what it ' +
      'missed, as far back as events are kept (REGISTRY_EVENT_DAYS). After a longer time read ' +
      'anew what you keep a copy of.',
    body: WebhookUpdate,
    data: arrayOf(Webhook),
    write: ({ body, actor }, tx) => {
      if (body.url) refuseAddress(body.url, allowLocal)
      return updateWebhook(tx, actor, body)
    },
  }),
  writing({
    operation: 'DELETE /Webhook',
    ...change,
    summary: 'Delete a webhook with its deliveries.',
    query: WebhookKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteWebhook(tx, actor, query),
  }),
]

const delivering = (seal: Seal): Endpoint[] => [
  writing({
    operation: 'POST /Webhook/RotateSecret',
    name: 'rotateWebhookSecret',
    event: 'webhook.updated',
    ...change,
    secret: true,
    summary: 'Replace the secret of a webhook; the old one signs for 24 hours too.',
    body: WebhookKeyBody,
    data: arrayOf(WebhookWithSecret),
    write: ({ body, actor }, tx) => rotateSecret(tx, actor, body, seal),
  }),
  writing({
    operation: 'POST /Webhook/Test',
    name: 'testWebhook',
    event: null,
    ...change,
    summary: 'Send something to a webhook, to try it.',
    body: WebhookKeyBody,
    data: arrayOf(Delivery),
    write: ({ body, actor }, tx) => testWebhook(tx, actor, body),
  }),
  reading({
    operation: 'GET /Webhook/Delivery',
    access: 'Webhook.Read',
    summary: 'List deliveries: what became of each event.',
    query: DeliveryQuery,
    data: arrayOf(Delivery),
    read: ({ query, actor }, handle) => readDeliveries(handle, actor, query),
  }),
  writing({
    operation: 'POST /Webhook/Replay',
    name: 'replayWebhook',
    event: null,
    ...change,
    summary: 'Send events again: those of a time, or some by their ids.',
    body: Replay,
    data: Type.Object(
      {
        webhookID: Id,
        deliveries: Type.Integer({ description: 'How many events are sent again.' }),
      },
      { $id: 'WebhookReplayed' },
    ),
    write: ({ body, actor }, tx) => replayEvents(tx, actor, body),
  }),
]
