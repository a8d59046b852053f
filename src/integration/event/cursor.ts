import { invalid, Refusal } from '../../platform/refusal.ts'

/**
 * A place in the feed: after the event `id` of the transaction `xid`. Transaction numbers outgrow
 * doubles, so both stay text.
 */
export type Place = { xid: string; id: string }

export type Feed = {
  /** Identifies the feed; a feed begun anew has another epoch and other transaction numbers. */
  epoch: string
  /** The last place that was swept away. */
  swept: Place
  /** Every transaction with a lower number has ended, so no event can appear before it any more. */
  horizon: string
  /** No transaction has a number this high yet. */
  future: string
}

export const cursorOf = (epoch: string, { xid, id }: Place) => `${epoch}.${xid}.${id}`

/** The head of the feed: events that cannot be seen yet will come after this place. */
export const head = ({ horizon }: Feed): Place => ({ xid: horizon, id: '0' })

export function placeOf(cursor: string, feed: Feed): Place {
  const [, epoch, xid, id] = /^([0-9a-f]{12})\.(\d{1,19})\.(\d{1,18})$/.exec(cursor) ?? []
  if (!epoch || !xid || !id)
    throw invalid('invalid_value', 'After must be the cursor of an event, or now.', 'After')
  const place = { xid, id }
  if (epoch !== feed.epoch || compare({ xid: feed.future, id: '0' }, place) < 0)
    throw gone('The cursor belongs to another feed: the registry was restored since.')
  refuseSwept(place, feed)
  return place
}

/** Refuses a cursor before the last swept place, since the events between the two are gone. */
export function refuseSwept(place: Place, { swept }: Feed) {
  if (compare(place, swept) < 0) throw gone('The events after the cursor are not kept any more.')
}

/** The place itself, or the last swept place where that is later: where a reader can go on from. */
export const keptFrom = (place: Place, { swept }: Feed): Place =>
  compare(place, swept) < 0 ? swept : place

const gone = (words: string) =>
  new Refusal(410, [
    {
      code: 'cursor_expired',
      field: 'After',
      message: `${words} Read anew what you keep a copy of, and go on with After=now.`,
    },
  ])

function compare(a: Place, b: Place): number {
  const [x, y] = a.xid === b.xid ? [BigInt(a.id), BigInt(b.id)] : [BigInt(a.xid), BigInt(b.xid)]
  return x < y ? -1 : x > y ? 1 : 0
}
