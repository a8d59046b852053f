import { type Static, Type } from 'typebox'
import { eventTypes } from '../../platform/event-types.ts'
import { DateTime, Id, LongId, optional, shown } from '../../platform/shape/fields.ts'

export const RegistryEvent = shown(
  'Event',
  {
    eventID: Type.Integer({ ...LongId, description: 'The number of the event; not its place.' }),
    cursor: Type.String({
      description: 'The place of the event in the feed: After this, the next one comes.',
    }),
    type: Type.Unsafe<string>({ type: 'string', enum: eventTypes }),
    occurredDate: DateTime,
    productID: Type.Integer({ description: 'The product it concerns; null where it is none.' }),
    resource: Type.String({ description: 'Where to fetch what the ids name.' }),
    ids: Type.Array(Type.Integer(), {
      description: 'The native ids of the records written; empty where they are more than 1000.',
    }),
    counts: Type.Unsafe<unknown>({
      description: 'How many it was about, where the ids do not tell: { "accounts": 1000000 }.',
    }),
    userID: Type.Integer({ description: 'Who did it; null where the registry did.' }),
  },
  {
    eventID: 4711,
    cursor: '3f0a9c51d2e7.80412.4711',
    type: 'biztransaction.posted',
    occurredDate: '2026-01-01T00:00:00Z',
    productID: 1,
    resource: 'BizTransaction',
    ids: [90125],
    counts: null,
    userID: 2,
  },
)

const longestWait = 60

export const EventQuery = Type.Object({
  After: optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'A cursor from an earlier answer. Without it the feed begins with the oldest event that ' +
        'is kept; `now` means only what comes.',
    }),
  ),
  Type: optional(
    Type.Unsafe<string[]>({
      type: 'array',
      items: { type: 'string', enum: eventTypes },
      description: 'Only events of these types.',
    }),
  ),
  ProductID: optional(Id),
  PageSize: optional(Type.Integer({ minimum: 1, default: 100 })),
  Wait: optional(
    Type.Integer({
      minimum: 0,
      maximum: longestWait,
      default: 0,
      description: 'Seconds to hold the answer until there is an event.',
    }),
  ),
})
export type EventQuery = Static<typeof EventQuery>
