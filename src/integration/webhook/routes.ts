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
    summary: 'Create a webhook: events are sent to its address from now on.',
    description:
      'Follows the Standard Webhooks specification: the headers `webhook-id`, ' +
      '`webhook-timestamp` and `webhook-signature` sign the body with the secret, which is ' +
      'shown only in this answer. The webhook gets the events that you may read yourself. An ' +
      `event that is not answered with 2xx is sent again, up to ${repeats.count} times in ` +
      `${repeats.hours} hours.`,
    body: WebhookInput,
    data: arrayOf(WebhookWithSecret),
    write: ({ body, actor, secret }, tx) => {
      refuseAddress(body.url, allowLocal)
      return createWebhook(tx, actor, body, seal, secret)
    },
  }),
  writing({
    operation: 'PUT /Webhook',
    ...change,
    summary:
      'Change a webhook. Fields that are left out keep their values. From then on, your rights ' +
      'decide what it is sent.',
    description:
      'A webhook that was inactive, or whose user or API key had ended, is then sent the events ' +
      'that it missed, as far back as events are kept (REGISTRY_EVENT_DAYS). After a longer ' +
      'pause, read your copies of records anew.',
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
    summary: 'Delete a webhook and its deliveries.',
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
    summary:
      'Replace the secret of a webhook. For 24 hours, messages are signed with the old secret too.',
    body: WebhookKeyBody,
    data: arrayOf(WebhookWithSecret),
    write: ({ body, actor, secret }, tx) => rotateSecret(tx, actor, body, seal, secret),
  }),
  writing({
    operation: 'POST /Webhook/Test',
    name: 'testWebhook',
    event: null,
    ...change,
    summary: 'Send a test message to a webhook.',
    body: WebhookKeyBody,
    data: arrayOf(Delivery),
    write: ({ body, actor }, tx) => testWebhook(tx, actor, body),
  }),
  reading({
    operation: 'GET /Webhook/Delivery',
    access: 'Webhook.Read',
    summary: 'List deliveries: whether each event reached its receiver.',
    query: DeliveryQuery,
    data: arrayOf(Delivery),
    read: ({ query, actor }, handle) => readDeliveries(handle, actor, query),
  }),
  writing({
    operation: 'POST /Webhook/Replay',
    name: 'replayWebhook',
    event: null,
    ...change,
    summary: 'Send events again: those of a period, or the ones with given ids.',
    body: Replay,
    data: Type.Object(
      {
        webhookID: Id,
        deliveries: Type.Integer({ description: 'How many events will be sent again.' }),
      },
      { $id: 'WebhookReplayed' },
    ),
    write: ({ body, actor }, tx) => replayEvents(tx, actor, body),
  }),
]
