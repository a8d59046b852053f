import type { Sql } from './handle.ts'

/**
 * How many SQL statements of one asker run at once, and how many records one of them reads. Several
 * smaller statements let Node answer some callers while PostgreSQL reads for others. With 64
 * concurrent callers, 24 records per statement were a fifth faster than 64; a third statement for
 * the callers left over by two was a fifteenth faster than two.
 */
const usuallyAtOnce = 2
const mostAtOnce = 3
export const mostTogether = 24
/** The third statement starts only if this many wait; for fewer it would just split the work. */
const crowd = mostTogether / 2

type Waiting = {
  handle: Sql
  id: number
  resolve: (json: string | undefined) => void
  reject: (error: unknown) => void
}
type Queue = { waiting: Waiting[]; running: number; isCalled: boolean }

/** Reads the JSON of the records with these ids that the asker may see, by id. */
type Read<Asker> = (
  handle: Sql,
  asker: Asker,
  ids: readonly number[],
) => Promise<Map<number, string>>

/**
 * Combines single-record reads that arrive together into one SQL statement, because setting up a
 * statement costs more than reading a record. A statement starts only after all requests it answers
 * have arrived, so no answer is older than its request; a lone request does not wait for others.
 * Only requests of one session share a statement, so that all of them may see the same records.
 */
export function readTogether<Asker>(read: Read<Asker>) {
  const queues = new Map<Asker, Queue>()

  function call(asker: Asker, queue: Queue) {
    if (queue.isCalled || !mayBegin(queue)) return
    queue.isCalled = true
    // Lets the other requests of this turn of the event loop join the statement.
    setImmediate(() => {
      queue.isCalled = false
      void workOff(asker, queue)
    })
  }

  async function workOff(asker: Asker, queue: Queue) {
    queue.running++
    while (queue.waiting.length > 0)
      await answer(read, asker, queue.waiting.splice(0, mostTogether))
    queue.running--
    if (queue.running === 0 && queue.waiting.length === 0) queues.delete(asker)
  }

  return (handle: Sql, asker: Asker, id: number): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(asker) ?? { waiting: [], running: 0, isCalled: false }
      queues.set(asker, queue)
      queue.waiting.push({ handle, id, resolve, reject })
      call(asker, queue)
    })
}

const mayBegin = ({ running, waiting }: Queue) =>
  running < usuallyAtOnce || (running < mostAtOnce && waiting.length >= crowd)

/** If a shared statement fails, each id is read alone, because only one may be at fault. */
async function answer<Asker>(read: Read<Asker>, asker: Asker, asked: readonly Waiting[]) {
  const [{ handle }] = asked as [Waiting] // there is always at least one
  try {
    const found = await read(handle, asker, [...new Set(asked.map(({ id }) => id))])
    const tell = () => {
      for (const { id, resolve } of asked) resolve(found.get(id))
    }
    // Answering many callers takes time, so the next statement is sent first.
    if (asked.length > 1) setImmediate(tell)
    else tell()
  } catch (error) {
    if (asked.length === 1) asked[0]?.reject(error)
    else for (const one of asked) await answer(read, asker, [one])
  }
}
