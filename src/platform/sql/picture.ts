import type pg from 'pg'
import { withConnection } from './connection.ts'

/**
 * Opens one snapshot of the whole database. On Citus every server takes its own snapshot; all are
 * taken while no multi-server commit is under way and none can begin, so that together they show
 * one moment. Writes wait meanwhile.
 */
export async function openPicture(
  client: pg.Client,
  connection: pg.ClientConfig,
  mode: 'read only' | 'read write' = 'read only',
) {
  const begin = `begin isolation level repeatable read ${mode}`
  if (!(await hasCitus(client))) return void (await client.query(begin))
  await withConnection({ ...connection, application_name: 'registry picture' }, async (holder) => {
    await holdCommits(holder)
    // One connection to each server, hence one snapshot per server.
    await client.query('set citus.max_adaptive_executor_pool_size = 1')
    await client.query(begin)
    // a query that reaches every shard, so that every server takes its snapshot now
    await client.query('select 1 from ledger_account limit 1')
  })
}

export async function hasCitus(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`select 1 from pg_extension where extname = 'citus'`)
  return rows.length > 0
}

const attempts = 10

/**
 * Every multi-server commit first writes to pg_dist_transaction and keeps that lock until all
 * servers have committed. Transactions that a dead server left prepared are settled first.
 */
async function holdCommits(client: pg.Client) {
  for (let attempt = 1; ; attempt++) {
    await client.query('select recover_prepared_transactions()')
    await client.query(`begin; set local lock_timeout = '10s'`)
    await client.query('lock table pg_dist_transaction in exclusive mode').catch(refuseUnentitled)
    const { rows } = await client.query<{ isAway: boolean; open: string }>(leftOpen)
    const { isAway, open } = rows[0]! // an aggregate has one row
    if (isAway) throw new Error('Not all servers of the ledger answer; start again when they do.')
    if (Number(open) === 0) return
    await client.query('rollback')
    if (attempt === attempts)
      throw new Error(`${open} commits over several servers stay open: see pg_prepared_xacts.`)
  }
}

const leftOpen = `
  select coalesce(bool_or(not success), false) as "isAway",
    coalesce(sum(case when success then result::int end), 0) as open
  from run_command_on_workers($$
    select count(*) from pg_prepared_xacts
    where database = current_database() and gid like 'citus\\_%' $$)`

function refuseUnentitled(error: Error & { code?: string }): never {
  if (error.code !== '42501') throw error
  throw new Error(
    'A picture of all servers needs a superuser, or on the coordinator once: grant update on ' +
      'pg_catalog.pg_dist_transaction to the owner of the tables.',
    { cause: error },
  )
}
