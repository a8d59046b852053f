import type { Actor } from '../../platform/actor.ts'
import type { EventType } from '../../platform/event-types.ts'
import type { Problem } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'

/** A row to be imported, as the body of an API operation. */
export type Item = { line: number; operation: string; body: unknown }

/** A refused row with all its problems. */
export type RefusedRow = { line: number; problems: Problem[] }

/** What some rows wrote, described as an operation for the audit record and the event. */
export type Part = { operation: string; resource: string; event: EventType; result: Written }

/** What was done, and the problems of the refused items by index. */
export type Outcome = { parts: Part[]; refused: Map<number, Problem[]> }

/** Does rows. If it throws a refusal, no row was done, and the refusal names the items at fault. */
export type Work = (tx: Tx) => Promise<Outcome>

/**
 * Prepares the work of rows: everything that can be done without the database is done here, while
 * PostgreSQL is still working on the previous rows.
 */
export type Perform = (actor: Actor, items: readonly Item[]) => Work
