import { arrayOf, type Endpoint, reading } from '../../platform/http/endpoint.ts'
import type { Follow } from './follow.ts'
import { EventQuery, RegistryEvent } from './schema.ts'

export const eventEndpoints = (follow: Follow): Endpoint[] => [
  reading({
    operation: 'GET /Event',
    access: 'Event.Read',
    summary: 'Read the feed of events: everything that happened, in an order that never changes.',
    description:
      'To continue, send the top-level `cursor` of the answer as `After`; there is one even if ' +
      'the answer has no events. A page may be shorter than PageSize. Only a page without ' +
      'events means that you have reached the end for now. You get the events of records that ' +
      'you may read, in the products that you can see.',
    query: EventQuery,
    data: arrayOf(RegistryEvent),
    texts: ['cursor'],
    current: true,
    failures: { 410: 'The events after the cursor are not kept any more.' },
    read: ({ query, actor }, handle) => follow(handle, actor, query),
  }),
]
