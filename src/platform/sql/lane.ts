import { tryLater } from '../refusal.ts'

/** A write that may share a transaction with other writes, and the user who asks for it. */
export type Shareable = {
  write: { userID: number | null }
  names: {
    /** Everything the write may wait for: no two lists under way share one of these names. */
    all: readonly string[]
    /** Names that may occur only once within a list. */
    single: readonly string[]
  }
}

type Lane<Job> = {
  /** The most lists under way at a time. */
  most: number
  /** Another list starts only when this many jobs wait for each job that is under way. */
  crowd: number
  mostTogether: number
  /** Jobs of the same kind may share a list. */
  kindOf: (job: Job) => string
  run: (jobs: Job[]) => Promise<void>
}

/**
 * Runs jobs in lists; no two lists under way have a name in common. A list starts only after all
 * jobs that arrived in the same turn of the event loop are queued. Callers who were answered
 * together send their next requests together, and otherwise each job would be taken alone while a
 * list is free.
 */
export function lane<Job extends Shareable>(how: Lane<Job>): (job: Job) => void {
  const { most, crowd, run } = how
  const waiting: Job[] = []
  const underway = new Set<string>()
  let [lists, inLists] = [0, 0]
  const isWorthIt = () => waiting.length >= crowd * inLists
  const isFree = ({ names }: Job) => !names.all.some((name) => underway.has(name))

  async function workOff() {
    lists++
    for (let jobs = next(); jobs.length > 0; jobs = next()) {
      const names = jobs.flatMap((job) => job.names.all)
      for (const name of names) underway.add(name)
      inLists += jobs.length
      await run(jobs)
      inLists -= jobs.length
      for (const name of names) underway.delete(name)
    }
    lists--
  }

  /** A job that shares a name with a list under way stays queued until that list is done. */
  const next = () => (isWorthIt() ? takeTogether(waiting, isFree, how) : [])

  let isCalled = false
  function begin() {
    isCalled = false
    if (lists < most && isWorthIt()) void workOff()
  }

  return (job) => {
    waiting.push(job)
    if (isCalled) return
    isCalled = true
    setImmediate(begin)
  }
}

/**
 * The next jobs that can share a list, taken from the users in turn; no `single` name occurs twice.
 */
function takeTogether<Job extends Shareable>(
  waiting: Job[],
  isFree: (job: Job) => boolean,
  { kindOf, mostTogether }: Lane<Job>,
): Job[] {
  const first = waiting.find(isFree)
  if (!first) return []
  const names = new Set<string>()
  const fits = (job: Job) => {
    if (kindOf(job) !== kindOf(first) || !isFree(job)) return false
    if (job.names.single.some((name) => names.has(name))) return false
    for (const name of job.names.single) names.add(name)
    return true
  }
  const together = inTurns(waiting.filter((job) => fits(job))).slice(0, mostTogether)
  const taken = new Set(together)
  waiting.splice(0, waiting.length, ...waiting.filter((job) => !taken.has(job)))
  return together
}

/**
 * The first job of each user, then the second of each, and so on: one user's flood delays nobody
 * else.
 */
function inTurns<Job extends Shareable>(jobs: Job[]): Job[] {
  const counts = new Map<number | null, number>()
  const ranked = jobs.map((job) => {
    const rank = counts.get(job.write.userID) ?? 0
    counts.set(job.write.userID, rank + 1)
    return { job, rank }
  })
  if (counts.size < 2) return jobs
  return ranked.sort((a, b) => a.rank - b.rank).map(({ job }) => job)
}

type Bounds = {
  longestQueue: number
  longestShare: number
  /** The message of the refusal when the queue is full. */
  full: string
}

/**
 * Limits the requests inside, in total and per user. Requests beyond a limit are refused as busy
 * (503).
 */
export function bounded({ longestQueue, longestShare, full }: Bounds) {
  const inside = new Map<number | null, number>()
  let total = 0

  function leave(userID: number | null) {
    total--
    const own = (inside.get(userID) ?? 1) - 1
    if (own === 0) inside.delete(userID)
    else inside.set(userID, own)
  }

  return async <T>(userID: number | null, work: () => Promise<T>): Promise<T> => {
    const own = inside.get(userID) ?? 0
    if (total >= longestQueue || own >= longestShare) throw tryLater(503, 'busy', full, 2)
    total++
    inside.set(userID, own + 1)
    return work().finally(() => leave(userID))
  }
}
