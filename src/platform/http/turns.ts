import { tryLater } from '../refusal.ts'

type Limits = {
  /** How many may be at work at once. */
  most: number
  /** How many may wait for their turn, and what those beyond are told. */
  longestQueue: number
  full: string
}

/** Work that must not take everything: a few at once, the others in the order they came. */
export function turns({ most, longestQueue, full }: Limits) {
  let running = 0
  const queue: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (queue.length >= longestQueue) throw tryLater(503, 'busy', full, 2)
    if (running >= most) await new Promise<void>((resolve) => queue.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}
