import type { Sql } from './handle.ts'

/**
 * Statements of one caller under way, and records in one: while PostgreSQL reads some, Node answers
 * others. Of 64 callers at once, 24 to a statement were answered a fifth faster than 64, and with a
 * third statement for those whom two leave over a fifteenth faster than with two.
 */
const usuallyAtOnce = 2
const mostAtOnce = 3
export const mostTogether = 24
/** So many must wait for the third to be worth it; a few would only make all of them shorter. */
const crowd = mostTogether / 2

type Waiting = {
  handle: Sql
  id: number
  resolve: (json: string | undefined) => void
  reject: (error: unknown) => void
}
type Queue = { waiting: Waiting[]; running: number; isCalled: boolean }

/** Reads the records of some ids that whoever asks may see: their JSON, by id. */
type Read<Asker> = (
  handle: Sql,
  asker: Asker,
  ids: readonly number[],
) => Promise<Map<number, string>>

/**
 * Reads of one record each, as a caller sends them by the dozen: those that arrive together share a
 * statement, since to set one up costs more than to read a record. A statement starts after all
 * that it answers have arrived, so that nobody is told anything old; whoever is alone waits for
 * nobody. Only requests of one session share, so that all see the same.
 */
export function readTogether<Asker>(read: Read<Asker>) {
  const queues = new Map<Asker, Queue>()

  function call(asker: Asker, queue: Queue) {
    if (queue.isCalled || !mayBegin(queue)) return
    queue.isCalled = true
    // What arrived in the same turn is waited for.
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

/** What fails together is tried one by one: the fault may be of one alone. */
async function answer<Asker>(read: Read<Asker>, asker: Asker, asked: readonly Waiting[]) {
  const [{ handle }] = asked as [Waiting] // nobody calls without any
  try {
    const found = await read(handle, asker, [...new Set(asked.map(({ id }) => id))])
    const tell = () => {
      for (const { id, resolve } of asked) resolve(found.get(id))
    }
    // Before many are told, which takes its time, the next statement is on its way.
    if (asked.length > 1) setImmediate(tell)
    else tell()
  } catch (error) {
    if (asked.length === 1) asked[0]?.reject(error)
    else for (const one of asked) await answer(read, asker, [one])
  }
}
