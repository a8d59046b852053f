import { Command } from 'commander'
import type pg from 'pg'
import { readConfig } from '../../config.ts'
import { refuseOutdated } from '../../platform/registry.ts'
import { withConnection } from '../../platform/sql/connection.ts'
import { runViews } from '../../platform/sql/migrate.ts'
import { kinds, readSteps, type Step, spreadTables } from '../../platform/sql/steps.ts'
import { isMissing, say, withServer } from './registry.ts'

export const distributeCommand = new Command('distribute')
  .description(
    'distribute the ledger over the workers; run it on a Citus coordinator, with the service ' +
      'stopped',
  )
  .action(async () => {
    const config = readConfig()
    if (isMissing(config)) throw new Error(`There is no database in ${config.dataDir} yet.`)
    await withServer(config, async (server) => {
      await refuseOutdated(server)
      await distribute(server.connection)
    })
  })

/** Spreads a migrated database over the servers that its Citus coordinator knows. */
export async function distribute(connection: pg.ClientConfig, steps = readSteps()) {
  const own = { ...connection, application_name: 'registry-distribute' }
  await withConnection(own, async (client) => {
    await refuseUnready(client)
    await client.query('begin')
    await client.query(putViewsAway)
    for (const step of steps) {
      await client.query(step.text).catch((error: Error) => refuse(step, error))
      if (step.table) say(`${step.table.padEnd(24)} ${kinds[step.kind!]}`)
    }
    await runViews(client).catch((error: Error) => refuse({ text: 'views of the past' }, error))
    await client.query('commit')
    say('Done. Run the command verify before the service starts again.')
  })
}

/**
 * Citus takes the functions that a view calls for dependencies of the types that the view reads. In
 * a register that existed before Citus, the function of the type holding_state would then depend on
 * itself.
 */
const putViewsAway = 'drop view if exists known.transaction_line cascade'

/** Fails the command; the end of the connection rolls the transaction back. */
function refuse({ text, table }: Step, cause: Error): never {
  const where = table ?? text.split('\n')[0]
  throw new Error(`Nothing was changed: ${where}: ${cause.message}`, { cause })
}

type Seen = { version: string | null; isInstalled: boolean }

const whatWeLookAt = `
  select (select extversion from pg_extension where extname = 'citus') as version,
    exists (select 1 from pg_available_extensions where name = 'citus') as "isInstalled"`

/** Refuses a database that is not ready, before anything is changed. */
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
    throw new Error('Nothing was changed: this is a worker. Run the command on the coordinator.')
  if (!rows[0].isKnown)
    throw new Error(
      'Nothing was changed: the coordinator does not know its own address. Run ' +
        "select citus_set_coordinator_host('its name') here. See docs/SCALING.md.",
    )
}

async function refuseDone(client: pg.Client) {
  const known = await spreadTables(client)
  if (known.size > 0)
    throw new Error(
      `Nothing was changed: these tables are already distributed: ${[...known].join(', ')}.`,
    )
}
