import { tryLater } from '../refusal.ts'

type Limits = {
  /** The most that may be under way at once: pieces of work, or bytes. */
  most: number
  /** Capacity kept free for callers with nothing under way, so that a newcomer need not wait. */
  spare?: number
  /** How many may wait, in total and per caller. */
  longestQueue: number
  longestShare?: number
  /** The longest wait, in milliseconds. */
  patience?: number
  /** The message of the refusal after too long a wait, or with a full queue. */
  full: string
}

/** Whose work it is: a user, or the address of a caller who is not signed in. */
export type Whose = { caller: string }

export type InTurn = <T>(work: () => Promise<T>, whose: Whose, size?: number) => Promise<T>

type Waiting = { size: number; start: () => void }
type Caller = { used: number; running: number; queue: Waiting[] }

type State = Required<Limits> & {
  /** The callers with work under way or waiting, and nobody else. */
  callers: Map<string, Caller>
  running: number
  waiting: number
  /**
   * The time used by the caller who started last. A new or returning caller begins at this level,
   * not with savings from time away.
   */
  level: number
  /**
   * A moving average of the time work takes, in milliseconds: the assumed cost of a turn until it
   * ends.
   */
  usual: number
}

/**
 * Runs a limited amount of work at once and queues the rest. Turns are shared fairly by time: the
 * caller who has used least so far goes next, however many requests others send; a caller alone
 * gets everything except the spare part. Work that waits too long, or exceeds its caller's share of
 * the queue, is refused with 503, and the caller may try again.
 */
export function turns(limits: Limits): InTurn {
  const state: State = {
    spare: 0,
    longestShare: Math.ceil(limits.longestQueue / 2),
    patience: 20_000,
    ...limits,
    callers: new Map(),
    running: 0,
    waiting: 0,
    level: 0,
    usual: 1,
  }
  return async (work, { caller: name }, asked = 1) => {
    const size = Math.min(asked, state.most)
    const caller = callerOf(state, name)
    if (state.waiting >= state.longestQueue || caller.queue.length >= state.longestShare)
      throw busy(state)
    state.callers.set(name, caller)
    if (caller.queue.length === 0 && mayStart(state, caller, size)) begin(state, caller, size)
    else await wait(state, name, caller, size)
    const expected = state.usual
    const start = performance.now()
    try {
      return await work()
    } finally {
      const took = performance.now() - start
      caller.used += took - expected
      state.usual += (Math.max(took, 0.1) - state.usual) / 20
      end(state, name, size)
    }
  }
}

const busy = ({ full }: State) => tryLater(503, 'busy', full, 2)

const callerOf = ({ callers, level }: State, name: string): Caller =>
  callers.get(name) ?? { used: level, running: 0, queue: [] }

/** Forgets a caller with nothing under way or waiting. */
function forgetIdle({ callers }: State, name: string) {
  const caller = callers.get(name)
  if (caller?.running === 0 && caller.queue.length === 0) callers.delete(name)
}

const mayStart = ({ running, most, spare }: State, caller: Caller, size: number) =>
  running === 0 || running + size <= (caller.running === 0 ? most : most - spare)

function begin(state: State, caller: Caller, size: number) {
  state.level = Math.max(state.level, caller.used)
  caller.used += state.usual
  caller.running += size
  state.running += size
}

function wait(state: State, name: string, caller: Caller, size: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = () => {
      clearTimeout(timer)
      begin(state, caller, size)
      resolve()
    }
    const entry = { size, start }
    const timer = setTimeout(() => {
      caller.queue.splice(caller.queue.indexOf(entry), 1)
      state.waiting--
      forgetIdle(state, name)
      reject(busy(state))
    }, state.patience)
    state.waiting++
    caller.queue.push(entry)
  })
}

function end(state: State, name: string, size: number) {
  callerOf(state, name).running -= size
  state.running -= size
  forgetIdle(state, name)
  startNext(state)
}

/** Starts all waiting work that may start, beginning with the caller who has used least. */
function startNext(state: State) {
  for (;;) {
    const ready = [...state.callers.values()].filter(
      (caller) => caller.queue[0] && mayStart(state, caller, caller.queue[0].size),
    )
    const next = ready.sort((a, b) => a.used - b.used)[0]
    if (!next) return
    state.waiting--
    next.queue.shift()?.start()
  }
}
