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
 * Postings that arrive while others are being written share the next transaction: a commit costs
 * the same for one as for a hundred. Under no load a posting waits for nobody. Each is accepted or
 * refused by itself; one that fails for a reason of its own is tried alone, so that it takes no
 * other down with it. A list waits for nothing: who meets a locked account or a key in use goes to
 * the waiting room.
 */
const mostTogether = 200
/** Of those that one statement posts, so many: of many callers several lists are then under way. */
const mostAtOnce = mostInRecord
/**
 * A few lists at a time, so that one is worked out while PostgreSQL writes another; not with a name
 * in both, since one of them would find it locked.
 */
const mostLists = 3
/**
 * Another list is worth its statements only when this share of those under way wait: of two callers
 * neither waits for the other, and of many each list has its part.
 */
const crowd = 0.5
/** An array is a list of its own; it must not keep single postings waiting. */
const mostArrays = 3
/** Postings inside, in all and of one user: who comes beyond that is told to come again. */
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
          const since = performance.now() // whatever becomes of the clock meanwhile
          const job = { write, actor, request, naming, names, since, resolve, reject }
          if (!room.joins(job)) enqueue(job)
        }),
    )

  function enqueue(job: Job) {
    if (isListOfItsOwn(job)) arrays(job)
    else if (job.naming) singles(job)
    else others(job)
  }

  /** What does more than append moves on, so that it keeps up none that does not. */
  async function runSingles(jobs: Job[]) {
    if (await database.isSpread()) return runList(jobs)
    for (const job of await runAtOnce(database, jobs)) anywhere(job)
  }

  /** And so does what may take long: all that a long account has since. */
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

/** What a set quantity posts depends on what is there, so that nothing else goes with it. */
const isListOfItsOwn = ({ request }: Job) =>
  request.bodies.length > 1 || request.operation === 'SetQuantity'

const full = 'Too many postings are waiting; try again shortly.'

/** Those of one kind may share a list: they see the same products and name things alike. */
const kindOf = ({ actor, naming }: Job) =>
  `${naming ? Object.values(naming) : 'post'} ${actor.productIDs}`

/** Posts in one statement what has others behind it, each of an account of its own. */
async function runBefore(database: Database, jobs: Job[]): Promise<Job[]> {
  const apart = apartOf(jobs)
  const left = new Set(await runAtOnce(database, apart, true))
  const tried = new Set(apart)
  return jobs.filter((job) => left.has(job) || !tried.has(job))
}

/** Of several that name the same the first; and none that takes units out. */
function apartOf(jobs: Job[]) {
  const seen = new Set<string>()
  return jobs.filter(({ request, names: { all } }) => {
    const isApart = new Set(all).size === all.length && !all.some((name) => seen.has(name))
    for (const name of all) seen.add(name)
    return isApart && request.operation !== 'Redemption'
  })
}

/** Posts in one statement what can be; gives back what cannot. */
async function runAtOnce(database: Database, jobs: Job[], isAnywhere = false): Promise<Job[]> {
  const [first] = jobs
  if (!first?.naming) return jobs
  try {
    const outcomes = await postAtOnce(database, first.actor, first.naming, jobs, isAnywhere)
    database.bell.ring('postings')
    const tell = () => {
      for (const [place, outcome] of outcomes) jobs[place]?.resolve(outcome)
    }
    // Before many are told, which takes its time, the next list is on its way.
    if (jobs.length > 1) setImmediate(tell)
    else tell()
    return jobs.filter((_, place) => !outcomes.has(place))
  } catch (error) {
    // What may have been committed must not be done again: not all have a key.
    if (!isAway(error)) return jobs
    for (const job of jobs) job.reject(error)
    return []
  }
}

/** A job that must wait, or be tried alone, and the name under which. */
type Left = { job: Job; name: string }

/** Posts in one transaction, waiting for nothing; gives back who must wait, or be tried alone. */
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
 * Posts one, and waits briefly for whoever is in its way. Who waits for an account waits for that
 * alone; tells what it waits for still, if it did not come to an end.
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

/** Tells the caller; or gives the name of what the job has to wait for. */
function told({ names, ...job }: Job, end: Outcome | Refusal): string | undefined {
  if (end instanceof KeyHeld) return names.key ?? names.first
  if (end instanceof Contested) return names.first
  if (end instanceof Refusal) job.reject(end)
  else job.resolve(end)
  return undefined
}
