import type { Actor } from '../../platform/actor.ts'
import { permissionMissing, tryLater } from '../../platform/refusal.ts'
import type { Bell } from '../../platform/sql/bell.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import type { Answer } from '../../platform/sql/render.ts'
import type { Place } from './cursor.ts'
import { type News, newsFrom } from './news.ts'
import type { EventQuery } from './schema.ts'
import { ownOf, placeAfter, readAfter, readFeed } from './sql.ts'

/** The most callers that may wait: each holds no database connection, only a little memory. */
const mostWaiting = 1000

export type Follow = (handle: Sql, actor: Actor, query: EventQuery) => Promise<Answer>

/** Reads the present rights of a caller; refuses a caller whose session or API key has ended. */
export type Present = (handle: Sql, actor: Actor) => Promise<Actor>

/** Reads the feed; with Wait, holds the answer until there is an event in it. */
export function followerOf(bell: Bell, stopping: AbortSignal, present: Present): Follow {
  const news = newsFrom(bell)
  let waiting = 0
  return async (handle, actor, query) => {
    const { After, Wait = 0, PageSize: size } = query
    const asked = { own: ownOf(actor, query), size }
    const from = placeAfter(After, await readFeed(handle))
    const found = await readAfter(handle, asked, from)
    if (found.answer.recordCount > 0 || Wait === 0) return found.answer
    if (waiting >= mostWaiting)
      throw tryLater(503, 'busy', 'Too many callers wait for events; try again shortly.', 5)
    waiting++
    const over = ended(Wait * 1000, stopping)
    // Rights are read again after each wait, so that a right taken away takes effect at once.
    const askAgain = async () => ({
      own: ownOf(mayHear(await present(handle, actor)), query),
      size,
    })
    return wait(news, handle, { asked, askAgain }, found.place, over).finally(() => {
      waiting--
      over.end()
    })
  }
}

function mayHear(actor: Actor): Actor {
  if (actor.permissions.has('Event.Read')) return actor
  throw permissionMissing('Event.Read')
}

type Asked = Parameters<typeof readAfter>[1]
type Asking = { asked: Asked; askAgain: () => Promise<Asked> }

async function wait(news: News, handle: Sql, asking: Asking, from: Place, over: Over) {
  let place = from
  let { asked } = asking
  for (;;) {
    const { heard, leave } = await news.listen(handle, asked.own)
    try {
      const found = await readAfter(handle, asked, place)
      if (found.answer.recordCount > 0 || over.isOver()) return found.answer
      place = found.place
      await Promise.race([heard, over.promise])
    } finally {
      leave()
    }
    asked = await asking.askAgain()
  }
}

type Over = { promise: Promise<void>; isOver: () => boolean; end: () => void }

/** The end of a wait: after the given time, or when the service stops. */
function ended(milliseconds: number, stopping: AbortSignal): Over {
  let isOver = stopping.aborted
  let end = () => {}
  const promise = new Promise<void>((resolve) => {
    const timer = setTimeout(() => end(), isOver ? 0 : milliseconds)
    end = () => {
      isOver = true
      clearTimeout(timer)
      stopping.removeEventListener('abort', end)
      resolve()
    }
    stopping.addEventListener('abort', end)
  })
  return { promise, isOver: () => isOver, end }
}
