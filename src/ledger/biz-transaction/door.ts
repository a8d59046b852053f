import type { Actor } from '../../platform/actor.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isAway, isLocked } from '../../platform/sql/away.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { bounded, lane } from '../../platform/sql/lane.ts'
import { KeyHeld } from '../../platform/sql/retry-keys.ts'
import {
  mostInRecord,
  type Outcome,
  unitsOfWork,
  type Write,
} from '../../platform/sql/unit-of-work.ts'
import { postAtOnce } from './at-once.ts'
import type { PostingRequest } from './item.ts'
import { type Job, namesOf } from './job.ts'
import { namingOf } from './naming.ts'
import { post } from './post.ts'
import { briefly, waitingRoom } from './waiting-room.ts'
import { Contested } from './write.ts'

/**
 * Postings that arrive while others are being written share the next database transaction: a commit
 * costs the same for one posting as for a hundred. Without load a posting waits for no other. Each
 * is accepted or refused by itself; if a shared transaction fails, its postings are tried one by
 * one, so that none takes the others down. A list does not wait: a posting that meets a locked
 * account or a key in use goes to the waiting room.
 */
const mostTogether = 200
/** The most postings of one SQL statement; with many callers several such lists are under way. */
const mostAtOnce = mostInRecord
/**
 * Lists under way at a time: one is worked out while PostgreSQL writes another. Two lists never
 * have a name in common (lane.ts), since one of them would find it locked.
 */
const mostLists = 3
/**
 * Another list begins only when the postings that wait are at least this share of the postings
 * under way: two callers do not wait for each other, and many are spread over the lists.
 */
const crowd = 0.5
/** Arrays under way at a time. Each is a list of its own and must not delay single postings. */
const mostArrays = 3
/** The most postings inside, in all and of one user; callers beyond that are told to try again. */
const longestQueue = 4_000
const longestShare = 2_000

export type PostingDoor = (write: Write, actor: Actor, request: PostingRequest) => Promise<Outcome>

export function postingDoor(database: Database): PostingDoor {
  const room = waitingRoom({
    attempt: (job, name) => runAlone(database, job, name),
    again: enqueue,
  })
  const singles = lane<Job>({
    kindOf,
    mostTogether: mostAtOnce,
    most: mostLists,
    crowd,
    run: runSingles,
  })
  const anywhere = lane<Job>({
    kindOf,
    mostTogether: mostAtOnce,
    most: mostLists,
    crowd,
    run: runAnywhere,
  })
  const others = lane<Job>({ kindOf, mostTogether, most: 2, crowd: 0, run: runList })
  const arrays = lane<Job>({ kindOf, mostTogether: 1, most: mostArrays, crowd: 0, run: runList })
  const within = bounded({ longestQueue, longestShare, full })

  return (write, actor, request) =>
    within(
      write.userID,
      () =>
        new Promise<Outcome>((resolve, reject) => {
          const [naming, names] = [namingOf(request), namesOf(write, request)]
          const since = performance.now() // unlike the clock, never set back
          const job = { write, actor, request, naming, names, since, resolve, reject }
          if (!room.joins(job)) enqueue(job)
        }),
    )

  function enqueue(job: Job) {
    if (isListOfItsOwn(job)) arrays(job)
    else if (job.naming) singles(job)
    else others(job)
  }

  /** Posts what only appends; other postings move on, so that they do not delay those. */
  async function runSingles(jobs: Job[]) {
    if (await database.isSpread()) return runList(jobs)
    for (const job of await runAtOnce(database, jobs)) anywhere(job)
  }

  /** Posts what has few transactions after it; postings that may take long move on. */
  async function runAnywhere(jobs: Job[]) {
    for (const job of await runBefore(database, jobs)) others({ ...job, naming: undefined })
  }

  async function runList(jobs: Job[]) {
    for (const { job, name } of await runTogether(database, await leftOf(jobs)))
      room.enter(job, name)
  }

  async function leftOf(jobs: Job[]) {
    if (await database.isSpread()) return jobs
    return runBefore(database, await runAtOnce(database, jobs))
  }
}

/** Arrays, and set quantities: what these post depends on what other postings leave. */
const isListOfItsOwn = ({ request }: Job) =>
  request.bodies.length > 1 || request.operation === 'SetQuantity'

const full = 'Too many postings are waiting; try again shortly.'

/** Jobs of one kind may share a list: they see the same products and name things alike. */
const kindOf = ({ actor, naming }: Job) =>
  `${naming ? Object.values(naming) : 'post'} ${actor.productIDs}`

/**
 * Posts in one SQL statement postings that are dated before others of their account (behind.ts), at
 * most one per account; returns the jobs that are left.
 */
async function runBefore(database: Database, jobs: Job[]): Promise<Job[]> {
  const apart = apartOf(jobs)
  const left = new Set(await runAtOnce(database, apart, true))
  const tried = new Set(apart)
  return jobs.filter((job) => left.has(job) || !tried.has(job))
}

/** The jobs without redemptions, and of jobs that have a name in common only the first. */
function apartOf(jobs: Job[]) {
  const seen = new Set<string>()
  return jobs.filter(({ request, names: { all } }) => {
    const isApart = new Set(all).size === all.length && !all.some((name) => seen.has(name))
    for (const name of all) seen.add(name)
    return isApart && request.operation !== 'Redemption'
  })
}

/** Posts what it can in one SQL statement; returns the jobs that are left. */
async function runAtOnce(database: Database, jobs: Job[], isAnywhere = false): Promise<Job[]> {
  const [first] = jobs
  if (!first?.naming) return jobs
  try {
    const outcomes = await postAtOnce(database, first.actor, first.naming, jobs, isAnywhere)
    database.bell.ring('postings')
    const tell = () => {
      for (const [place, outcome] of outcomes) jobs[place]?.resolve(outcome)
    }
    // Answering many callers takes time, so the next list is started first.
    if (jobs.length > 1) setImmediate(tell)
    else tell()
    return jobs.filter((_, place) => !outcomes.has(place))
  } catch (error) {
    // A posting that may be committed must not be repeated: not every request has a key.
    if (!isAway(error)) return jobs
    for (const job of jobs) job.reject(error)
    return []
  }
}

/** A job that must wait or be tried alone, and the name under which it does. */
type Left = { job: Job; name: string }

/** Posts in one database transaction without waiting; returns the jobs to be tried alone. */
async function runTogether(database: Database, jobs: Job[]): Promise<Left[]> {
  if (jobs.length === 0) return []
  const [{ actor }] = jobs as [Job]
  try {
    const ends = await unitsOfWork(
      database,
      jobs.map(({ write }) => write),
      (tx, places) => {
        const requests = places.map((place) => jobs[place]!.request) // places are of these jobs
        return post(tx, actor, requests, { waits: false })
      },
      { waits: false, lockTimeout: briefly },
    )
    return jobs.flatMap((job, i) => {
      const name = told(job, ends[i]!) // an end for each
      return name === undefined ? [] : [{ job, name }]
    })
  } catch (error) {
    const isTheirOwn = jobs.length > 1 && !isAway(error)
    if (isTheirOwn || isContested(error)) return jobs.map((job) => ({ job, name: job.names.first }))
    for (const job of jobs) job.reject(error)
    return []
  }
}

/**
 * Posts one job, waiting briefly for locks. It waits for the key only if `name` is the key. Returns
 * the name that it still has to wait for, if it was neither posted nor refused.
 */
async function runAlone(database: Database, job: Job, name: string): Promise<string | undefined> {
  try {
    const [end] = await unitsOfWork(
      database,
      [job.write],
      (tx) => post(tx, job.actor, [job.request], { waits: true }),
      { waits: name === job.names.key, lockTimeout: briefly },
    )
    return told(job, end!) // an end for each
  } catch (error) {
    if (isContested(error)) return name
    job.reject(error)
    return undefined
  }
}

const isContested = (error: unknown) => error instanceof Contested || isLocked(error)

/** Answers the caller, or returns the name of what the job has to wait for. */
function told({ names, ...job }: Job, end: Outcome | Refusal): string | undefined {
  if (end instanceof KeyHeld) return names.key ?? names.first
  if (end instanceof Contested) return names.first
  if (end instanceof Refusal) job.reject(end)
  else job.resolve(end)
  return undefined
}
