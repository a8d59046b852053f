import pg from 'pg'
import sql, { raw } from 'sql-template-tag'
import { invalid } from '../refusal.ts'
import type { Database, Fragment, Snapshot, Sql } from './handle.ts'
import { pastMark } from './spread.ts'

/** What a read of the past is about: the ledger as known at one moment, names as at another. */
export type LookBack = { knownAt?: string | undefined; namedAt?: string | undefined }

/**
 * From here on the statements of a snapshot see the register as it was known: views that have the
 * names of the tables stand before them (migrations/as-known.sql). A statement that was prepared
 * for the tables is another than the same one for the views.
 */
export async function lookBack(
  snapshot: Snapshot,
  { knownAt, namedAt = knownAt }: LookBack,
): Promise<Snapshot> {
  const path = knownAt === undefined ? 'named, public' : 'known, named, public'
  const [set] = await snapshot.query<{ isAhead: boolean | null }>(sql`
    select ${knownAt ?? null}::timestamptz > clock_timestamp() as "isAhead",
      set_config('search_path', ${path}, true)`)
  // As commands, which Citus passes on to the workers. They take no parameters.
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

/** As long as any other read may take: what was known is counted anew for it. */
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
