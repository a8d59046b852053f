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
import { ownNames } from './names.ts'
import { showEach } from './read.ts'
import { addForEach, createEntities } from './save.ts'
import type { BizEntityInput } from './schema.ts'

/**
 * Where products live on several machines, an entity is written to each of them, table by table,
 * and committed on all in two phases: what it takes to write one is enough for many. So entities
 * that arrive while others are being written share the next transaction. They share all of it: when
 * one is refused each is tried alone, and so is one that is in the way of another.
 */
const mostTogether = 20
/** As one list is worked out, another is written. */
const mostLists = 2
/** Another list is worth it when this share of those under way wait. */
const crowd = 0.5
/** How long a list waits for a record that somebody else changes. */
const briefly = '250ms'

/** Entities inside, in all and of one user: who comes beyond that is told to come again. */
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

/** What callers have in common who see the same of an entity. */
const sightOf = ({ productIDs, permissions }: Actor) =>
  `${productIDs} ${[...permissions].sort().join()}`

/** An array is a list of its own; and who names a parent takes turns with others who do. */
const canShare = ({ body: [entity, ...others] }: EntityRequest) =>
  others.length === 0 && (entity?.bizEntityParents ?? []).length === 0

/** No two of a list have one of these in common; the key of a request is one of them. */
const namesOf = ({ userID, retry }: Write, { body }: EntityRequest): string[] => [
  ...(retry ? [`key ${userID} ${retry.key}`] : []),
  ...ownNames(body),
]

/** Writes entities in one transaction; gives back those that are to be tried alone. */
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
      const end = ends[i]! // an end for each
      if (!(end instanceof Refusal)) resolve(end)
      return end instanceof Refusal
    })
  } catch (error) {
    // What may have been committed must not be done again: not all have a key.
    if (!isAway(error)) return jobs
    for (const { reject } of jobs) reject(error)
    return []
  }
}

async function createEach(tx: Tx, vault: Vault, requests: EntityRequest[]): Promise<Written[]> {
  const [{ actor }] = requests as [EntityRequest] // nobody calls without any
  const inputs = requests.flatMap(({ body }) => body) // one of each
  const all = await addForEach(tx, actor, vault, inputs, (i) => requests[i]!.pathOf(0))
  const shown = await showEach(
    tx,
    actor,
    all.flatMap(({ ids }) => ids),
  )
  return all.map((one) => ({ ...one, json: `[${shown.get(one.ids[0]!)}]` }))
}
