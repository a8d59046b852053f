import { codeOf } from '../../platform/sql/away.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'

/** A transaction that several ask at once: each statement is sent when the one before is done. */
export function inTurn(tx: Tx): Tx {
  let last: Promise<unknown> = Promise.resolve()
  const query = <Row extends object>(statement: Fragment) => {
    const rows = last.then(() => tx.query<Row>(statement))
    last = rows.catch(() => {})
    return rows
  }
  return { ...tx, query }
}

/** PostgreSQL's word for statements behind one that failed: never the reason. */
const isBehindFailure = (error: unknown) => codeOf(error) === '25P02'

/** What several at once come to, when all of them have ended: none goes on behind our back. */
export async function allOf<const T extends readonly Promise<unknown>[]>(
  ...all: T
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const ends = await Promise.allSettled(all)
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  if (errors.length > 0) throw errors.find((error) => !isBehindFailure(error)) ?? errors[0]
  return Promise.all(all) as Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>
}
