import { tryLater } from '../../platform/refusal.ts'
import type { Job } from './job.ts'

/**
 * The queues of postings that wait for a locked account or for an Idempotency-Key in use, one queue
 * for each name of what they wait for. The first posting of each queue is tried in turn with the
 * first of other queues, briefly, on one of a few connections. When it is posted or refused, the
 * others of its queue go back to the lists together.
 */
const mostTrying = 3
export const briefly = '250ms'
/** In milliseconds; after that the caller is told to try again. */
const longestWait = 30_000
/** The most postings that may wait under one name. */
const longestQueue = 500

type Group = { name: string; jobs: Job[]; tries: number; isTrying: boolean }

type Doors = {
  /** Tries a posting, waiting briefly; returns the name that it still waits for, if any. */
  attempt: (job: Job, name: string) => Promise<string | undefined>
  /** Puts a posting that need not wait any more back into the lists. */
  again: (job: Job) => void
}

export function waitingRoom({ attempt, again }: Doors) {
  const groups = new Map<string, Group>()
  let trying = 0

  function enter(job: Job, name: string) {
    const group = groups.get(name) ?? { name, jobs: [], tries: 0, isTrying: false }
    if (group.jobs.length >= longestQueue) return job.reject(busy())
    groups.set(name, group)
    group.jobs.push(job)
    expire(group, job)
    if (trying < mostTrying) void tryInTurns()
  }

  function expire(group: Group, job: Job) {
    setTimeout(() => {
      const place = group.jobs.indexOf(job)
      // A posting that is being tried at this moment gives up in tryFirst.
      if (place > 0 || (place === 0 && !group.isTrying)) giveUp(group, job)
    }, timeLeft(job)).unref()
  }

  function giveUp(group: Group, job: Job) {
    group.jobs.splice(group.jobs.indexOf(job), 1)
    if (group.jobs.length === 0) groups.delete(group.name)
    job.reject(busy())
  }

  async function tryInTurns() {
    trying++
    for (let group = next(); group; group = next()) await tryFirst(group)
    trying--
  }

  /** The queue that has been tried least often: a name that stays locked must not delay others. */
  const next = () =>
    [...groups.values()]
      .filter(({ isTrying, jobs }) => !isTrying && jobs.length > 0)
      .reduce<Group | undefined>(
        (least, group) => (least && least.tries <= group.tries ? least : group),
        undefined,
      )

  async function tryFirst(group: Group) {
    const [job] = group.jobs as [Job]
    group.isTrying = true
    const name = await attempt(job, group.name)
    group.isTrying = false
    group.tries++
    if (name === group.name) return timeLeft(job) <= 0 ? giveUp(group, job) : undefined
    groups.delete(group.name)
    for (const other of group.jobs.slice(1)) again(other)
    group.jobs.length = 0
    if (name !== undefined) enter(job, name)
  }

  return {
    enter,
    /** Lets a job queue behind others that wait for one of its names; tells whether it did. */
    joins(job: Job): boolean {
      const { key = '', first } = job.names
      const name = [key, first].find((one) => groups.has(one))
      if (name !== undefined) enter(job, name)
      return name !== undefined
    },
  }
}

const timeLeft = ({ since }: Job) => since + longestWait - performance.now()

const busy = () =>
  tryLater(503, 'busy', 'The account is busy with another change; try again shortly.', 1)
