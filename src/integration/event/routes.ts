import { arrayOf, type Endpoint, reading } from '../../platform/http/endpoint.ts'
import type { Follow } from './follow.ts'
import { EventQuery, RegistryEvent } from './schema.ts'

export const eventEndpoints = (follow: Follow): Endpoint[] => [
  reading({
    operation: 'GET /Event',
    access: 'Event.Read',
    summary: 'Read the feed of events: what happened, in an order that never changes.',
    description:
      'The top-level `cursor` tells where to go on from, also where there was nothing: send it ' +
      'as `After`. A page may be shorter than PageSize; one without events is the end for now. ' +
      'You hear of what you may read, of your products.',
    query: EventQuery,
    data: arrayOf(RegistryEvent),
    texts: ['cursor'],
    current: true,
    failures: { 410: 'The events after the cursor are not kept any more.' },
    read: ({ query, actor }, handle) => follow(handle, actor, query),
  }),
]
