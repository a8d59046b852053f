import pg from 'pg'
import { type KeptHead, verifyChain } from '../../access/audit/verify.ts'
import { withConnection } from '../../platform/sql/connection.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { hasCitus, openPicture } from '../../platform/sql/picture.ts'
import { type Check, checks } from './checks.ts'
import { distributionChecks } from './distribution-checks.ts'
import { paymentChecks } from './payment-checks.ts'
import { reconciliationChecks } from './reconciliation-checks.ts'
import { residualChecks } from './residual-checks.ts'

/**
 * The result of one check: the number of rows it looked at and found, with a few of these as text.
 */
export type Verified = {
  name: string
  rows: number
  found: number
  examples: string[]
  isNote: boolean
}

/** How many of the rows found are given as examples. */
const mostExamples = 10

// The checks read whole tables, so the settings that keep requests from doing so are switched off.
const settings = 'set statement_timeout = 0; set enable_seqscan = on; set jit = off'

/**
 * Checks the whole register on one snapshot while the service runs. Each result is passed to
 * `onChecked` as soon as the check is done.
 */
export async function verify(
  connection: pg.ClientConfig,
  onChecked: (verified: Verified) => void = () => {},
  keptHead?: KeptHead,
): Promise<Verified[]> {
  return withConnection(connection, async (client) => {
    await client.query(settings)
    await begin(client, connection)
    const done: Verified[] = []
    for (const check of [
      ...checks,
      ...distributionChecks,
      ...residualChecks,
      ...paymentChecks,
      ...reconciliationChecks,
    ]) {
      done.push(await run(client, check))
      onChecked(done.at(-1)!)
    }
    done.push(await runChain(client, keptHead))
    onChecked(done.at(-1)!)
    await client.query('commit')
    return done
  })
}

/**
 * Opens the snapshot. If the ledger is spread over several servers, its tables are copied to the
 * coordinator first: the checks compare all tables with each other, which Citus does not do. The
 * copies are temporary tables, which take precedence over the originals (pg_temp) and end with the
 * transaction.
 */
async function begin(client: pg.Client, connection: pg.ClientConfig) {
  if (!(await hasCitus(client))) return openPicture(client, connection)
  const known = await client.query<{ name: string }>(`
    select relname as name from pg_dist_partition join pg_class on oid = logicalrelid
    where relnamespace = 'public'::regnamespace`)
  const views = await client.query<{ name: string; text: string }>(`
    select relname as name, pg_get_viewdef(oid) as text from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'v' order by oid`)
  await openPicture(client, connection, 'read write')
  for (const { name } of known.rows)
    await client.query(`
      create temporary table ${pg.escapeIdentifier(name)}
        (like public.${pg.escapeIdentifier(name)} including indexes) on commit drop;
      insert into pg_temp.${pg.escapeIdentifier(name)}
        select * from public.${pg.escapeIdentifier(name)};
      analyze pg_temp.${pg.escapeIdentifier(name)}`)
  for (const { name, text } of views.rows)
    await client.query(`create temporary view ${pg.escapeIdentifier(name)} as ${text}`)
}

async function run(client: pg.Client, { name, of, violations, isNote }: Check): Promise<Verified> {
  const { rows } = await client.query<{ rows: string; found: string; examples: string[] }>(`
    with found as materialized (${violations})
    select (select count(*) from ${of}) as rows, (select count(*) from found) as found,
      array(select to_json(f)::text from found f limit ${mostExamples}) as examples`)
  const [seen] = rows
  const [checked, found] = [Number(seen!.rows), Number(seen!.found)]
  return { name, rows: checked, found, examples: seen!.examples, isNote: isNote === true }
}

/** Checks the chain of the audit trail, whose links only code can recompute. */
async function runChain(client: pg.Client, keptHead: KeptHead | undefined): Promise<Verified> {
  const handle: Sql = {
    query: async <Row extends object>({ text, values }: Fragment) =>
      (await client.query<Row>(text, values)).rows,
    isSpread: async () => false, // the audit trail is never spread
  }
  const { sealed, faults } = await verifyChain(handle, keptHead)
  const examples = faults.map(({ message }) => message)
  return { name: chainCheck, rows: sealed, found: faults.length, examples, isNote: false }
}

export const chainCheck = 'the audit trail is the chain that was sealed'
