import type { Actor } from '../../platform/actor.ts'
import type { EventType } from '../../platform/event-types.ts'
import type { Problem } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'

/** A row on its way in: the body of an operation of the API. */
export type Item = { line: number; operation: string; body: unknown }

/** A row that is not taken, and all that is wrong with it. */
export type RefusedRow = { line: number; problems: Problem[] }

/** What some rows came to, in the words of an operation: an audit record and an event. */
export type Part = { operation: string; resource: string; event: EventType; result: Written }

/** What was done, and by the place of an item what was not and why. */
export type Outcome = { parts: Part[]; refused: Map<number, Problem[]> }

/** Does rows; one that throws a refusal has done none of them, and names the items at fault. */
export type Work = (tx: Tx) => Promise<Outcome>

/**
 * Gets the work of rows ready: what can be told before PostgreSQL is asked is worked out here,
 * while it still does the rows before them.
 */
export type Perform = (actor: Actor, items: readonly Item[]) => Work
