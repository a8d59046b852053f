import sql from 'sql-template-tag'
import {
  accountReference,
  fromAccountReference,
  toAccountReference,
} from '../../parties/account/reference.ts'
import type { Actor } from '../../platform/actor.ts'
import { Refusal, tryLater } from '../../platform/refusal.ts'
import { codeOf, type Database, isAway, type Tx } from '../../platform/sql/handle.ts'
import { type Outcome, unitsOfWork, type Write } from '../../platform/sql/unit-of-work.ts'
import type { PostingRequest } from './item.ts'
import { post } from './post.ts'
import { Contested } from './write.ts'

/**
 * Postings that arrive while others are being written share the next transaction: a commit costs
 * the same for one as for a hundred. Under no load a posting waits for nobody. Each is accepted or
 * refused by itself; one that fails for a reason of its own is tried alone, so that it takes no
 * other down with it.
 */
const mostTogether = 200
/**
 * Two lists at a time, so that one is worked out while PostgreSQL writes the other; not with an
 * account in both, since one of them would find it locked, and lists do not wait.
 */
const mostLists = 2
/** The second list is worth its ten statements only when so many wait. */
const crowd = 32
/** Those that go alone may wait for a lock; they must not use up the connections while they do. */
const mostLoners = 4
/** And so they wait in turns: briefly on a connection, then behind those that have not yet. */
const briefly = '250ms'
/** In milliseconds; then the caller is told to try again. */
const longestWait = 30_000

type Job = {
  write: Write
  actor: Actor
  request: PostingRequest
  since: number
  tries: number
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}

export type PostingDoor = (write: Write, actor: Actor, request: PostingRequest) => Promise<Outcome>

export function postingDoor(database: Database): PostingDoor {
  const waiting: Job[] = []
  const underway = new Set<string>()
  const alone: Job[] = []
  let lists = 0
  let loners = 0

  return (write, actor, request) =>
    new Promise((resolve, reject) => {
      const job = { write, actor, request, since: Date.now(), tries: 0, resolve, reject }
      if (!joins(job)) return goAlone(job)
      waiting.push(job)
      if (lists < mostLists && isWorthIt(lists)) void workOff()
    })

  async function workOff() {
    lists++
    for (let jobs = next(); jobs.length > 0; jobs = next()) {
      const accounts = jobs.flatMap(accountsOf)
      for (const account of accounts) underway.add(account)
      const left = await runTogether(database, jobs, false)
      for (const account of accounts) underway.delete(account)
      left.map(goAlone)
    }
    lists--
  }

  function isWorthIt(others: number) {
    return others === 0 || waiting.length >= crowd
  }

  /** What waits for an account of the other list is taken when that one is done. */
  function next() {
    if (!isWorthIt(lists - 1)) return []
    return takeTogether(waiting, (job) => !accountsOf(job).some((name) => underway.has(name)))
  }

  function goAlone(job: Job) {
    alone.push(job)
    if (loners < mostLoners) void workOffAlone()
  }

  async function workOffAlone() {
    loners++
    for (let job = takeNext(alone); job; job = takeNext(alone))
      (await runTogether(database, [job], true)).map(goAgain)
    loners--
  }

  function goAgain(job: Job) {
    if (Date.now() - job.since > longestWait) return job.reject(busy())
    job.tries++
    alone.push(job)
  }
}

const busy = () =>
  tryLater(503, 'busy', 'The account is busy with another change; try again shortly.', 1)

/** Whoever has waited least often: one account that stays locked delays no others. */
function takeNext(alone: Job[]): Job | undefined {
  const fewest = Math.min(...alone.map(({ tries }) => tries))
  const [job] = alone.splice(
    alone.findIndex(({ tries }) => tries === fewest),
    alone.length > 0 ? 1 : 0,
  )
  return job
}

/** The next jobs that can share a transaction: same products seen, no idempotency key twice. */
function takeTogether(waiting: Job[], isFree: (job: Job) => boolean): Job[] {
  const first = waiting.find(isFree)
  if (!first) return []
  const keys = new Set<string>()
  const fits = (job: Job) => {
    const key = keyOf(job)
    if (scopeOf(job) !== scopeOf(first) || (key && keys.has(key)) || !isFree(job)) return false
    if (key) keys.add(key)
    return true
  }
  const together = waiting.filter((job) => fits(job)).slice(0, mostTogether)
  const taken = new Set(together)
  waiting.splice(0, waiting.length, ...waiting.filter((job) => !taken.has(job)))
  return together
}

/** What a set quantity posts depends on what is there, so it goes alone, and so does an array. */
const joins = ({ request }: Job) =>
  request.bodies.length === 1 && request.operation !== 'SetQuantity'
/** An account by whatever name the request gives it; under two names it is locked, and no harm. */
const accountsOf = ({ request }: Job) =>
  request.bodies.flatMap((body) =>
    accountFields.flatMap((field) => {
      const name = body[field as keyof typeof body]
      return name === undefined ? [] : [`${name}`]
    }),
  )
const accountFields = [accountReference, fromAccountReference, toAccountReference].flatMap(
  ({ fields }) => fields,
)
const scopeOf = ({ actor }: Job) => String(actor.productIDs)
const keyOf = ({ write }: Job) => write.retry && `${write.userID} ${write.retry.key}`

/** Runs jobs in one transaction; gives back those that must be tried alone, or again. */
async function runTogether(database: Database, jobs: Job[], waits: boolean): Promise<Job[]> {
  try {
    const ends = await unitsOfWork(
      database,
      jobs.map(({ write }) => write),
      async (tx, places) => {
        const requests = places.map((place) => jobs[place]!.request)
        if (!waits) return post(tx, jobs[0]!.actor, requests, { waits: false })
        await waitBriefly(tx)
        return post(tx, jobs[0]!.actor, requests, { waits: true }).catch(contestedIfLocked)
      },
    )
    return jobs.filter((job, i) => !told(job, ends[i]!))
  } catch (error) {
    // A list whose commit may have happened must not be done again: not all have a key.
    const isTheirOwn = jobs.length > 1 && !isAway(error)
    if (isTheirOwn || error instanceof Contested) return jobs
    for (const job of jobs) job.reject(error)
    return []
  }
}

const waitBriefly = (tx: Tx) => tx.query(sql`select set_config('lock_timeout', ${briefly}, true)`)

const lockNotAvailable = '55P03'

function contestedIfLocked(error: unknown): never {
  throw codeOf(error) === lockNotAvailable ? new Contested(503, []) : error
}

function told(job: Job, end: Outcome | Refusal): boolean {
  if (end instanceof Contested) return false
  if (end instanceof Refusal) job.reject(end)
  else job.resolve(end)
  return true
}
