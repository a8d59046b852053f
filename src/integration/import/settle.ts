import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor } from '../../platform/actor.ts'
import { ofConstraint, refusalOf } from '../../platform/http/failure.ts'
import type { Problem, Refusal } from '../../platform/refusal.ts'
import { isAway } from '../../platform/sql/away.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Item, Part, Perform, RefusedRow, Work } from './item.ts'
import { isInTheWay } from './patience.ts'
import { attempt } from './savepoint.ts'

/** The result of a step: what was done, and the rows that were refused. */
export type Settled = { parts: Part[]; refused: RefusedRow[] }

/** How rows are done. `clearWay` is called when a lock blocks them. */
export type How = {
  actor: Actor
  perform: Perform
  clearWay: () => void
  /** Whether savepoints are used, so that failing rows can be undone alone. */
  hasSavepoints: boolean
}

/**
 * Thrown when rows fail in a transaction without savepoints: the whole transaction must be repeated
 * with savepoints. It starts without them, because a correct file needs none, and more than 64 in a
 * transaction slow down all other transactions.
 */
export class NeedsSavepoints extends Error {}

/** After so many refusals in a row that name one item each, as a constraint does, we halve. */
const mostSingles = 2

/**
 * Does all rows that can be done. If a list is refused, the items that the refusal names are left
 * out and the others tried again. If refusals name no item, or only one each time, each half of the
 * list is tried alone, down to single rows: repeating the rest for every bad row would multiply
 * the time by the number of rows.
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
    // refusalIn throws errors that are not the fault of a row.
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
  line: items[i]!.line, // `i` is an index of `items`
  problems,
})

/** The refusal of a row behind an error. Throws the error if it is ours or the database's fault. */
function refusalIn(error: unknown, items: readonly Item[]): Refusal {
  const bodies = items.map(({ body }) => body)
  const refusal = ofConstraint(error, bodies) ?? refusalOf(error)
  if (!refusal || refusal.status >= 500 || isAway(error)) throw error
  return refusal
}

/** The problems of the items that a refusal names, by index. */
function atFault({ problems }: Refusal, count: number): Map<number, Problem[]> {
  const found = new Map<number, Problem[]>()
  for (const problem of problems) {
    const place = /^\[(\d+)\]/.exec(problem.field ?? '')?.[1]
    if (place === undefined || Number(place) >= count) continue
    found.set(Number(place), [...(found.get(Number(place)) ?? []), plain(problem)])
  }
  return found
}

/** Removes the row's place in the list from a problem. */
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
