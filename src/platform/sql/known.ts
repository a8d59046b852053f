import pg from 'pg'
import sql, { raw } from 'sql-template-tag'
import { invalid } from '../refusal.ts'
import type { Database, Fragment, Snapshot, Sql } from './handle.ts'
import { pastMark } from './spread.ts'

/** The moments of a read of the past: the ledger as known at one, names as stored at the other. */
export type LookBack = { knownAt?: string | undefined; namedAt?: string | undefined }

/**
 * From here on the snapshot reads the register as it was known at a moment: views with the names of
 * the tables come before the tables in the search path (migrations/as-known.sql). The mark at the
 * end of each SQL statement keeps a statement prepared for the views apart from the one prepared
 * for the tables.
 */
export async function lookBack(
  snapshot: Snapshot,
  { knownAt, namedAt = knownAt }: LookBack,
): Promise<Snapshot> {
  const path = knownAt === undefined ? 'named, public' : 'known, named, public'
  const [set] = await snapshot.query<{ isAhead: boolean | null }>(sql`
    select ${knownAt ?? null}::timestamptz > clock_timestamp() as "isAhead",
      set_config('search_path', ${path}, true)`)
  // `set local` as a command, because Citus passes commands on to the workers; it takes no
  // parameters.
  for (const [name, moment] of Object.entries({ known_at: knownAt, named_at: namedAt }))
    await snapshot.query(raw(`set local registry.${name} = ${pg.escapeLiteral(moment ?? '')}`))
  if (set?.isAhead) throw invalid('out_of_range', 'KnownAt lies in the future.', 'KnownAt')
  const mark = raw(knownAt === undefined ? '/* as named */' : pastMark)
  const marked = (statement: Fragment) => sql`${statement} ${mark}`
  return {
    isSpread: snapshot.isSpread,
    query: (statement) => snapshot.query(marked(statement)),
    stream: (statement, batch) => snapshot.stream(marked(statement), batch),
  }
}

/**
 * Reads of the past are computed anew, so they get the usual 30 s limit of any read, not the ten
 * minutes of a snapshot.
 */
const patience = sql`select set_config('statement_timeout', '30s', true)`

/** A read of what was known at a moment. */
export const asKnown = <T>(
  { snapshot }: Pick<Database, 'snapshot'>,
  knownAt: string,
  work: (handle: Sql) => Promise<T>,
): Promise<T> =>
  snapshot(async (present) => {
    await present.query(patience)
    return work(await lookBack(present, { knownAt }))
  })
