import { tryLater } from '../refusal.ts'

/** A write that may share a transaction with others, by whoever asks for it. */
export type Shareable = {
  write: { userID: number | null }
  names: {
    /** What it may have to wait for: no two lists under way have one in common. */
    all: readonly string[]
    /** Those of which one list can have only one. */
    single: readonly string[]
  }
}

type Lane<Job> = {
  /** Lists at a time. */
  most: number
  /** How many must wait for another list to be worth it, for each that is under way. */
  crowd: number
  mostTogether: number
  /** Those of one kind may share a list. */
  kindOf: (job: Job) => string
  run: (jobs: Job[]) => Promise<void>
}

/**
 * Works off what is put into it, list by list; no two lists under way have a name in common. A list
 * begins once all that arrived with its first is there: callers who were told together come again
 * together, and each would else be taken by itself as long as a list is free.
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

  /** What has a name in common with a list under way is taken when that one is done. */
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

/** The next jobs that can share a list, of the users in turn; no name is in it twice. */
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

/** One of each user, then the second of each, and so on: a flood of one delays no other. */
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
  /** What those are told who are too many. */
  full: string
}

/** Work of so many at once, in all and of one user: who comes beyond that is told to come again. */
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
