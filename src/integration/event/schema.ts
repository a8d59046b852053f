import { type Static, Type } from 'typebox'
import { eventTypes } from '../../platform/event-types.ts'
import { DateTime, Id, LongId, optional, shown } from '../../platform/shape/fields.ts'

export const RegistryEvent = shown(
  'Event',
  {
    eventID: Type.Integer({
      ...LongId,
      description: 'The number of the event. It is not its position in the feed.',
    }),
    cursor: Type.String({
      description:
        'The position of the event in the feed. Send it as After to get the events that follow.',
    }),
    type: Type.Unsafe<string>({ type: 'string', enum: eventTypes }),
    occurredDate: DateTime,
    productID: Type.Integer({
      description: 'The product that the event concerns; null if it concerns none.',
    }),
    resource: Type.String({
      description: 'The resource from which the records with these ids can be read.',
    }),
    ids: Type.Array(Type.Integer(), {
      description: 'The native ids of the records written; empty if there are more than 1000.',
    }),
    counts: Type.Unsafe<unknown>({
      description:
        'How many records the event concerns, if the ids do not show it: { "accounts": 1000000 }.',
    }),
    userID: Type.Integer({
      description: 'The user who caused the event; null if the registry did.',
    }),
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
        'A cursor from an earlier answer. If left out, the feed starts with the oldest event ' +
        'that is kept. `now`: only events that happen from now on.',
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
      description: 'How many seconds to wait for an event before answering that there is none.',
    }),
  ),
})
export type EventQuery = Static<typeof EventQuery>
