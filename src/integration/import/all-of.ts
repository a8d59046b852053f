import { codeOf } from '../../platform/sql/away.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'

/** Lets several callers use a transaction at once by sending its SQL statements one by one. */
export function inTurn(tx: Tx): Tx {
  let last: Promise<unknown> = Promise.resolve()
  const query = <Row extends object>(statement: Fragment) => {
    const rows = last.then(() => tx.query<Row>(statement))
    last = rows.catch(() => {})
    return rows
  }
  return { ...tx, query }
}

/** 25P02 is PostgreSQL's error for statements after a failed one, and never the actual reason. */
const isBehindFailure = (error: unknown) => codeOf(error) === '25P02'

/** As Promise.all, but waits for all promises even if one fails, so that none is still running. */
export async function allOf<const T extends readonly Promise<unknown>[]>(
  ...all: T
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const ends = await Promise.allSettled(all)
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  if (errors.length > 0) throw errors.find((error) => !isBehindFailure(error)) ?? errors[0]
  return Promise.all(all) as Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>
}
