import sql from 'sql-template-tag'
import type { Log } from '../platform/log.ts'
import type { Database } from '../platform/sql/handle.ts'

const interval = 10 * 60_000

/** What has run out is swept away. Every node does it; two at once do no harm. */
export function startMaintenance(database: Database, log: Log): () => void {
  const timer = setInterval(() => {
    sweep(database).catch((err: Error) => log.warn({ message: err.message }, 'maintenance failed'))
  }, interval)
  timer.unref()
  return () => clearInterval(timer)
}

export const sweep = (database: Database) =>
  database.transaction(async (tx) => {
    await tx.query(sql`delete from idempotency where created_date < now() - interval '24 hours'`)
    await tx.query(sql`delete from login_failure where failed_date < now() - interval '1 day'`)
    await tx.query(sql`delete from refresh_token where expires_date < now()`)
    await tx.query(sql`
      delete from session s where created_date < now() - interval '1 day'
        and not exists (select from refresh_token t where t.session_id = s.session_id)`)
  })
