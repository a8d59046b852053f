import { tryLater } from '../refusal.ts'

type Limits = {
  /** How much may be at work at once: so many pieces of work, or so many bytes. */
  most: number
  /** Kept free for callers who have nothing at work: a newcomer need not wait for others. */
  spare?: number
  /** How many may wait in all, and of one caller. */
  longestQueue: number
  longestShare?: number
  /** How long anybody waits, in milliseconds. */
  patience?: number
  /** What those are told who wait too long, or are too many. */
  full: string
}

/** Whose work it is: a user, or the address of somebody who has not signed in. */
export type Whose = { caller: string }

export type InTurn = <T>(work: () => Promise<T>, whose: Whose, size?: number) => Promise<T>

type Waiting = { size: number; start: () => void }
type Caller = { used: number; running: number; queue: Waiting[] }

/**
 * Work that must not take everything: so much at once, the rest in turn. Turns are shared fairly:
 * next is whoever has used least of the time so far, however many they send; whoever is alone gets
 * everything but what is kept spare. What waits too long, or is beyond its share of the queue, is
 * refused with 503, and its caller may come again.
 */
export function turns(limits: Limits): InTurn {
  const { most, spare = 0, longestQueue, full } = limits
  const { longestShare = Math.ceil(longestQueue / 2), patience = 20_000 } = limits
  const callers = new Map<string, Caller>()
  let running = 0
  let waiting = 0
  /** What the one who went last had used: who comes back begins there, not with what they saved. */
  let level = 0
  /** Milliseconds that work takes of late: what a turn is taken to cost until it ends. */
  let usual = 1

  const callerOf = (name: string): Caller => {
    const known = callers.get(name) ?? { used: level, running: 0, queue: [] }
    callers.set(name, known)
    return known
  }
  const mayStart = (caller: Caller, size: number) =>
    running === 0 || running + size <= (caller.running === 0 ? most : most - spare)

  const startNext = () => {
    for (;;) {
      const ready = [...callers.values()].filter(
        (caller) => caller.queue[0] && mayStart(caller, caller.queue[0].size),
      )
      const next = ready.sort((a, b) => a.used - b.used)[0]
      if (!next) return
      waiting--
      next.queue.shift()?.start()
    }
  }
  const wait = (caller: Caller, size: number) =>
    new Promise<void>((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        begin(caller, size)
        resolve()
      }
      const entry = { size, start }
      const timer = setTimeout(() => {
        caller.queue.splice(caller.queue.indexOf(entry), 1)
        waiting--
        reject(tryLater(503, 'busy', full, 2))
      }, patience)
      waiting++
      caller.queue.push(entry)
    })
  const begin = (caller: Caller, size: number) => {
    level = Math.max(level, caller.used)
    caller.used += usual
    caller.running += size
    running += size
  }
  const end = (name: string, caller: Caller, size: number, expected: number, took: number) => {
    caller.used += took - expected
    caller.running -= size
    running -= size
    usual += (Math.max(took, 0.1) - usual) / 20
    if (caller.running === 0 && caller.queue.length === 0) callers.delete(name)
    startNext()
  }

  return async (work, { caller: name }, asked = 1) => {
    const size = Math.min(asked, most)
    const caller = callerOf(name)
    if (waiting >= longestQueue || caller.queue.length >= longestShare)
      throw tryLater(503, 'busy', full, 2)
    if (caller.queue.length === 0 && mayStart(caller, size)) begin(caller, size)
    else await wait(caller, size)
    const expected = usual
    const start = performance.now()
    try {
      return await work()
    } finally {
      end(name, caller, size, expected, performance.now() - start)
    }
  }
}
