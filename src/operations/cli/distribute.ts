import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import pg from 'pg'
import { readConfig } from '../../config.ts'
import { statementsOf } from '../../platform/sql/script.ts'
import { isMissing, refuseOutdated, say, withServer } from './registry.ts'

const file = new URL('../../../scale-out/distribute.sql', import.meta.url)

export const distributeCommand = new Command('distribute')
  .description(
    'on a Citus coordinator: spread the ledger over the workers. Stop the service first.',
  )
  .action(async () => {
    const config = readConfig()
    if (isMissing(config)) throw new Error(`There is no database in ${config.dataDir} yet.`)
    await withServer(config, async (server) => {
      await refuseOutdated(server)
      await distribute(server.connection)
    })
  })

/** Spreads a migrated database over the servers that its coordinator knows. */
export async function distribute(connection: pg.ClientConfig) {
  const client = new pg.Client({ ...connection, application_name: 'registry-distribute' })
  await client.connect()
  try {
    await refuseUnready(client)
    await client.query('begin')
    for (const step of readSteps()) {
      await client.query(step.text).catch((error: Error) => refuse(step, error))
      if (step.table) say(`${step.table.padEnd(24)} ${words[step.kind!]}`)
    }
    await client.query('commit')
    say('Done. Run the command verify before the service starts again.')
  } finally {
    await client.end()
  }
}

/** Ending the connection undoes what was done. */
function refuse({ text, table }: Step, cause: Error): never {
  const where = table ?? text.split('\n')[0]
  throw new Error(`Nothing was changed: ${where}: ${cause.message}`, { cause })
}

type Seen = { version: string | null; isInstalled: boolean }

const whatWeLookAt = `
  select (select extversion from pg_extension where extname = 'citus') as version,
    exists (select 1 from pg_available_extensions where name = 'citus') as "isInstalled"`

/** Looks before it touches anything. */
async function refuseUnready(client: pg.Client) {
  const { rows } = await client.query<Seen>(whatWeLookAt)
  const { version, isInstalled } = rows[0]!
  if (version === null)
    throw new Error(`Nothing was changed: this database has no Citus. ${remedy(isInstalled)}`)
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number)
  if (major < 12 || (major === 12 && minor < 1))
    throw new Error(`Nothing was changed: Citus 12.1 or newer is needed; this is ${version}.`)
  await refuseWorker(client)
  await refuseDone(client)
}

const remedy = (isInstalled: boolean) =>
  (isInstalled
    ? 'Its packages are installed: add citus to shared_preload_libraries, restart, and run '
    : 'Install its packages everywhere, add citus to shared_preload_libraries, restart, run ') +
  'create extension citus here and on every worker, then citus_set_coordinator_host and ' +
  'citus_add_node here. See docs/SCALING.md.'

/** Tables can be distributed from the coordinator only, which must know its own address. */
async function refuseWorker(client: pg.Client) {
  const { rows } = await client.query(`
    select citus_is_coordinator() as "isCoordinator",
      exists (select 1 from pg_dist_node where groupid = 0) as "isKnown"`)
  if (!rows[0].isCoordinator)
    throw new Error('Nothing was changed: this is a worker. Run this on the coordinator.')
  if (!rows[0].isKnown)
    throw new Error(
      'Nothing was changed: the coordinator does not know its own address. Run ' +
        "select citus_set_coordinator_host('its name') here. See docs/SCALING.md.",
    )
}

async function refuseDone(client: pg.Client) {
  const names = readSteps().flatMap(({ table }) => table ?? [])
  const { rows } = await client.query(
    `select relname as name from pg_dist_partition join pg_class on oid = logicalrelid
    where relnamespace = 'public'::regnamespace and relname = any($1) order by 1`,
    [names],
  )
  if (rows.length > 0)
    throw new Error(
      `Nothing was changed: distributed already are ${rows.map(({ name }) => name).join(', ')}.`,
    )
}

const words = {
  create_reference_table: 'a copy on every server',
  create_distributed_table: 'spread by product',
  citus_add_local_table_to_metadata: 'stays here, known to Citus',
}
type Kind = keyof typeof words

/** A statement of the file, and the table it is about, if it is about one. */
export type Step = { text: string; kind?: Kind; table?: string }

export const readSteps = (): Step[] => statementsOf(readFileSync(file, 'utf8')).map(stepOf)

function stepOf(text: string): Step {
  const [, kind, table] = /^select (\w+)\(\s*'(\w+)'/.exec(text) ?? []
  return kind && table && kind in words ? { text, kind: kind as Kind, table } : { text }
}

/** The tables that the file leaves as they are, by name. */
export const readStaying = (): string[] =>
  (/^-- stays: (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '').split(', ')
