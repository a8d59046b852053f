import type { Actor } from '../../platform/actor.ts'
import type { InTurn, Request } from '../../platform/http/endpoint.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isAway } from '../../platform/sql/away.ts'
import type { Database, Tx } from '../../platform/sql/handle.ts'
import { bounded, lane } from '../../platform/sql/lane.ts'
import {
  type Outcome,
  unitOfWork,
  unitsOfWork,
  type Write,
  type Written,
} from '../../platform/sql/unit-of-work.ts'
import type { Vault } from '../sealed/vault.ts'
import { ownNames, tellsByID } from './names.ts'
import { showEach } from './read.ts'
import { addForEach, createEntities } from './save.ts'
import type { BizEntityInput } from './schema.ts'

/**
 * Where products are spread over several machines, an entity is written to each machine, table by
 * table, and committed on all in two phases. Writing many entities this way costs as much as
 * writing one, so entities that arrive while others are being written share the next transaction.
 * If that transaction fails, each entity is tried alone.
 */
const mostTogether = 20
/** While Node plans one list, PostgreSQL writes another. */
const mostLists = 2
/** A further list starts only if the waiting entities are this share of those under way. */
const crowd = 0.5
/** How long a shared transaction waits for a record that somebody else has locked. */
const briefly = '250ms'

/** How many entities may wait, in all and of one user; further requests are refused. */
const longestQueue = 1_000
const longestShare = 500

type EntityRequest = Request<unknown, BizEntityInput[]>
export type EntityDoor = (request: EntityRequest, write: Write, inTurn: InTurn) => Promise<Outcome>

type Job = {
  write: Write
  request: EntityRequest
  names: { all: readonly string[]; single: readonly string[] }
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}

export function entityDoor(database: Database, vault: Vault): EntityDoor {
  const alone = ({ write, request: { actor, body, pathOf } }: Pick<Job, 'write' | 'request'>) =>
    unitOfWork(database, write, (tx) => createEntities(tx, actor, vault, body, pathOf))
  const enter = lane<Job>({
    most: mostLists,
    crowd,
    mostTogether,
    kindOf: ({ request }) => sightOf(request.actor),
    run: async (jobs) => {
      const left = jobs.length === 1 ? jobs : await createTogether(database, vault, jobs)
      await Promise.all(left.map((job) => alone(job).then(job.resolve, job.reject)))
    },
  })
  const within = bounded({ longestQueue, longestShare, full })
  return async (request, write, inTurn) => {
    if (!(await database.isSpread()) || !canShare(request))
      return inTurn(() => alone({ write, request }), request)
    return within(
      write.userID,
      () =>
        new Promise<Outcome>((resolve, reject) => {
          const names = namesOf(write, request)
          enter({ write, request, names: { all: names, single: names }, resolve, reject })
        }),
    )
  }
}

const full = 'Too many entities are waiting; try again shortly.'

/** A text that is equal for callers with the same rights, who see the same parts of an entity. */
const sightOf = ({ productIDs, permissions }: Actor) =>
  `${productIDs} ${[...permissions].sort().join()}`

/**
 * Requests with several entities do not share, nor those with parents, which take turns, nor those
 * that give details of a person by native id: others may name that person by its external id.
 */
const canShare = ({ body }: EntityRequest) =>
  body.length === 1 && (body[0]?.bizEntityParents ?? []).length === 0 && !tellsByID(body)

/** Requests with a name in common never share a list. An Idempotency-Key is one of the names. */
const namesOf = ({ userID, retry }: Write, { body }: EntityRequest): string[] => [
  ...(retry ? [`key ${userID} ${retry.key}`] : []),
  ...ownNames(body),
]

/** Writes entities in one transaction and returns the jobs that must be tried alone. */
async function createTogether(database: Database, vault: Vault, jobs: Job[]): Promise<Job[]> {
  try {
    const ends = await unitsOfWork(
      database,
      jobs.map(({ write }) => write),
      (tx, places) =>
        createEach(
          tx,
          vault,
          places.map((place) => jobs[place]!.request),
        ),
      { waits: false, lockTimeout: briefly },
    )
    return jobs.filter(({ resolve }, i) => {
      const end = ends[i]! // one end for each job
      if (!(end instanceof Refusal)) resolve(end)
      return end instanceof Refusal
    })
  } catch (error) {
    // The work may have been committed, and not every request has an Idempotency-Key: no retry.
    if (!isAway(error)) return jobs
    for (const { reject } of jobs) reject(error)
    return []
  }
}

async function createEach(tx: Tx, vault: Vault, requests: EntityRequest[]): Promise<Written[]> {
  const [{ actor }] = requests as [EntityRequest] // there is always at least one request
  const inputs = requests.flatMap(({ body }) => body) // each request has one entity
  const all = await addForEach(tx, actor, vault, inputs, (i) => requests[i]!.pathOf(0))
  const shown = await showEach(
    tx,
    actor,
    all.flatMap(({ ids }) => ids),
  )
  return all.map((one) => ({ ...one, json: `[${shown.get(one.ids[0]!)}]` }))
}
