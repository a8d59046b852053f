import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor } from '../../platform/actor.ts'
import { ofConstraint, refusalOf } from '../../platform/http/failure.ts'
import type { Problem, Refusal } from '../../platform/refusal.ts'
import { isAway } from '../../platform/sql/away.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Item, Part, Perform, RefusedRow, Work } from './item.ts'
import { isInTheWay } from './patience.ts'
import { attempt } from './savepoint.ts'

/** What a step came to: what it did, and the rows it could not do. */
export type Settled = { parts: Part[]; refused: RefusedRow[] }

/** How rows are done, and who is told when somebody is in their way. */
export type How = {
  actor: Actor
  perform: Perform
  clearWay: () => void
  /** Whether rows that fail can be undone by themselves. */
  hasSavepoints: boolean
}

/**
 * Something failed in a transaction without savepoints: all of it is to be done again, with them. A
 * file that is right needs none, and more than 64 in a transaction slow down everybody else's.
 */
export class NeedsSavepoints extends Error {}

/** Refusals in a row that each name one item: a constraint knows of no other. */
const mostSingles = 2

/**
 * Does all rows that can be done. A list that is refused names the items at fault: the others are
 * tried again without them; where it names none, or only ever one, each half by itself, down to the
 * one: to try all the others again for each would take as many times as long as there are rows.
 */
export async function settle(
  tx: Tx,
  how: How,
  items: readonly Item[],
  work: Work = how.perform(how.actor, items),
  singles = 0,
): Promise<Settled> {
  if (items.length === 0) return { parts: [], refused: [] }
  try {
    const { parts, refused } = await (how.hasSavepoints
      ? patiently(how, () => attempt(tx, () => work(tx)))
      : work(tx))
    return { parts, refused: [...refused].map(([i, problems]) => refuse(items, i, problems)) }
  } catch (error) {
    // What is no row's fault is thrown as it is.
    if (!how.hasSavepoints && (isInTheWay(error) || refusalIn(error, items)))
      throw new NeedsSavepoints()
    const refusal = refusalIn(error, items)
    const named = atFault(refusal, items.length)
    const [only] = items
    if (items.length === 1 && only)
      return { parts: [], refused: [{ line: only.line, problems: refusal.problems.map(plain) }] }
    if (named.size === 0) return halves(tx, how, items, 0)
    const others = items.filter((_, i) => !named.has(i))
    const inRow = named.size === 1 ? singles + 1 : 0
    const rest = await (inRow < mostSingles
      ? settle(tx, how, others, undefined, inRow)
      : halves(tx, how, others, inRow))
    const refused = [...named].map(([i, problems]) => refuse(items, i, problems))
    return { parts: rest.parts, refused: [...refused, ...rest.refused] }
  }
}

async function halves(tx: Tx, how: How, items: readonly Item[], singles: number): Promise<Settled> {
  const middle = Math.ceil(items.length / 2)
  const half = (from: number, to?: number) =>
    settle(tx, how, items.slice(from, to), undefined, singles)
  const first = await half(0, middle)
  const second = await half(middle)
  return {
    parts: [...first.parts, ...second.parts],
    refused: [...first.refused, ...second.refused],
  }
}

const refuse = (items: readonly Item[], i: number, problems: Problem[]): RefusedRow => ({
  line: items[i]!.line, // i is a place of theirs
  problems,
})

/** The refusal that an error is; a fault of ours, or of the database, is none of any row's. */
function refusalIn(error: unknown, items: readonly Item[]): Refusal {
  const bodies = items.map(({ body }) => body)
  const refusal = ofConstraint(error, bodies) ?? refusalOf(error)
  if (!refusal || refusal.status >= 500 || isAway(error)) throw error
  return refusal
}

/** The problems of each item that is named, by its place. */
function atFault({ problems }: Refusal, count: number): Map<number, Problem[]> {
  const found = new Map<number, Problem[]>()
  for (const problem of problems) {
    const place = /^\[(\d+)\]/.exec(problem.field ?? '')?.[1]
    if (place === undefined || Number(place) >= count) continue
    found.set(Number(place), [...(found.get(Number(place)) ?? []), plain(problem)])
  }
  return found
}

/** A problem of a row says nothing of where the row stood in its list. */
function plain({ field, message, ...problem }: Problem): Problem {
  const own = (field ?? '').replace(/^\[\d+\]\.?/, '')
  const words = message.replaceAll(/(^|[\s(])\[\d+\]\.?/g, '$1')
  return { ...problem, ...(own && { field: own }), message: words }
}

const mostTries = 20

async function patiently<T>({ clearWay }: How, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === mostTries || !isInTheWay(error)) throw error
    }
    clearWay()
    await sleep(100 + Math.random() * 200)
  }
}
