import { Command } from 'commander'
import type pg from 'pg'
import sql from 'sql-template-tag'
import { type Config, readConfig, unknownWords } from '../../config.ts'
import type { Server } from '../../platform/registry.ts'
import { adviceOn } from '../../platform/sql/advice.ts'
import { type Clock, clockOff, clockStatement } from '../../platform/sql/clock.ts'
import { withConnection } from '../../platform/sql/connection.ts'
import { pendingMigrations, serviceRole } from '../../platform/sql/migrate.ts'
import { connectionsOfNode, lackOfRoom, type Room, roomStatement } from '../../platform/sql/room.ts'
import { isMissing, say, withServer } from './registry.ts'

/** The result of one check: whether it is wrong or only worth knowing, and what was seen. */
type Check = { name: string; wrong: boolean; note?: boolean; seen: string }

export const checkCommand = new Command('check')
  .description('check the configuration and the database for problems')
  .action(async () => {
    let wrong = false
    for await (const check of checks()) {
      say(`${headOf(check)}  ${check.name.padEnd(20)} ${check.seen}`)
      wrong ||= check.wrong
    }
    if (wrong) process.exitCode = 1
  })

const headOf = ({ wrong, note }: Check) => (wrong ? 'WRONG' : note ? 'note ' : 'ok   ')

async function* checks(): AsyncGenerator<Check> {
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    return yield broken('configuration', error)
  }
  const { unknown } = config
  const seen = unknown.length > 0 ? unknownWords(unknown).replaceAll('\n', ' ') : 'valid'
  yield { name: 'configuration', wrong: unknown.length > 0, seen }
  try {
    if (isMissing(config)) throw new Error(`there is no database in ${config.dataDir} yet`)
    const taken = connectionsOfNode(config)
    yield* await withServer(config, (server) => checkDatabase(server, taken))
  } catch (error) {
    yield broken('database', error)
  }
}

const broken = (name: string, error: unknown): Check => ({
  name,
  wrong: true,
  seen: adviceOn(error) ?? (error as Error).message,
})

/** Checks the database through the service's own login, because the rights of that login count. */
async function checkDatabase(server: Server, taken: number): Promise<Check[]> {
  const service = { ...server.service, connectionTimeoutMillis: 5_000 }
  return withConnection(service, async (client) => {
    const { rows } = await client.query<Seen>(whatWeLookAt)
    const seen = rows[0]!
    const room = await client.query<Room>(roomStatement)
    const connections = connectionCheck(room.rows[0]!, taken)
    const migrations = await checkMigrations(server.connection)
    const clock = await checkClock(client)
    return [...serverChecks(seen), connections, clock, migrations, ...roleChecks(seen)]
  })
}

type Seen = {
  user: string
  database: string
  version: string
  versionNumber: number
  encoding: string
  knowsCase: boolean
  takesWrites: boolean
  fsync: string
  fullPageWrites: string
  synchronousCommit: string
  checksums: string
  logsValues: boolean
  roleThere: boolean
  roleOurs: boolean
  /** What the service's role may do to the audit trail other than add to it. */
  auditRights: string[]
  /**
   * Why the service's login could change the audit trail, by its own rights or by those of a role
   * it can take on.
   */
  auditMasters: string[]
}

const whatWeLookAt = sql`
  select current_user::text as user, current_database()::text as database,
    current_setting('server_version') as version,
    current_setting('server_version_num')::int as "versionNumber",
    current_setting('server_encoding') as encoding,
    lower('ÀÉŒ') = 'àéœ' as "knowsCase",
    not (pg_is_in_recovery() or current_setting('transaction_read_only')::boolean) as "takesWrites",
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as "fullPageWrites",
    current_setting('synchronous_commit') as "synchronousCommit",
    current_setting('data_checksums') as checksums,
    (current_setting('log_statement') <> 'none'
      or current_setting('log_min_duration_statement') <> '-1')
      and current_setting('log_parameter_max_length') <> '0' as "logsValues",
    r.oid is not null as "roleThere",
    coalesce(pg_has_role(r.oid, 'member'), false) as "roleOurs",
    array(
      select p from unnest(array['update', 'delete', 'truncate']) p
      where has_table_privilege(r.oid, to_regclass('audit'), p)) as "auditRights",
    array(
      select format('%s %s', m.rolname, case
        when m.rolsuper then 'is a superuser'
        when m.oid = a.relowner then 'owns it'
        when m.rolcreaterole then 'may make roles'
        else 'may change it' end)
      from pg_roles m left join pg_class a on a.oid = to_regclass('audit')
      where pg_has_role(session_user, m.oid, 'member')
        and not (m.rolname <> session_user and exists (
          select 1 from pg_roles where rolname = session_user and rolsuper))
        and (m.rolsuper or m.rolcreaterole or m.oid = a.relowner
          or has_table_privilege(m.oid, a.oid, 'update, delete, truncate'))
      order by m.rolname) as "auditMasters"
  from (select) one left join pg_roles r on r.rolname = ${serviceRole}`

const oldestVersion = 15

function serverChecks(seen: Seen): Check[] {
  const mustBe = (name: string, value: string, right: readonly string[]): Check => ({
    name,
    wrong: !right.includes(value),
    seen: right.includes(value) ? value : `${value}, but must be ${right.join(' or ')}`,
  })
  return [
    { name: 'database', wrong: false, seen: `${seen.database}, as ${seen.user}` },
    {
      name: 'version',
      wrong: seen.versionNumber < oldestVersion * 10_000,
      seen: `PostgreSQL ${seen.version} (${oldestVersion} or newer is needed)`,
    },
    mustBe('encoding', seen.encoding, ['UTF8']),
    {
      name: 'letter case',
      wrong: !seen.knowsCase,
      seen: seen.knowsCase ? 'for all letters' : "only for A to Z: the locale must not be 'C'",
    },
    {
      name: 'writes',
      wrong: !seen.takesWrites,
      seen: seen.takesWrites ? 'taken' : 'refused: the database is a standby or set to read only',
    },
    mustBe('fsync', seen.fsync, ['on']),
    mustBe('full_page_writes', seen.fullPageWrites, ['on']),
    mustBe('synchronous_commit', seen.synchronousCommit, ['on', 'remote_apply']),
    mustBe('data_checksums', seen.checksums, ['on']),
    {
      name: 'log',
      wrong: seen.logsValues,
      seen: seen.logsValues
        ? 'logs the values of statements, including bank accounts: set log_parameter_max_length ' +
          'to 0'
        : 'no values',
    },
  ]
}

/** Says for how many nodes there are enough connections: how many nodes run is not known here. */
function connectionCheck(room: Room, taken: number): Check {
  const lack = lackOfRoom(room, taken)
  const wrong = taken > room.allowed
  const nodes = Math.floor(room.allowed / taken)
  const seen = `a node uses up to ${taken} of ${room.allowed}: enough for ${nodes} nodes`
  return { name: 'connections', wrong, note: lack !== undefined, seen: lack ?? seen }
}

async function checkClock(client: pg.Client): Promise<Check> {
  const before = Date.now()
  const { rows } = await client.query<Clock>(clockStatement)
  const off = clockOff(rows[0]!, before, Date.now())
  return { name: 'clock', wrong: off !== undefined, seen: off ?? 'agrees with the database' }
}

async function checkMigrations(connection: pg.ClientConfig): Promise<Check> {
  try {
    const pending = await pendingMigrations(connection)
    const wrong = pending.length > 0
    const words = wrong ? `missing: ${pending.join(', ')}; run the command migrate` : 'up to date'
    return { name: 'migrations', wrong, seen: words }
  } catch (error) {
    return broken('migrations', error)
  }
}

function roleChecks(seen: Seen): Check[] {
  const { user, roleThere, roleOurs } = seen
  const missing = roleThere ? `not granted to ${user}` : 'missing'
  return [
    {
      name: 'role',
      wrong: !roleOurs,
      seen: roleOurs ? serviceRole : `${serviceRole} is ${missing}; run the command migrate`,
    },
    auditCheck(seen),
  ]
}

/**
 * The audit trail must be append-only for the service's role. For the service's login it is so only
 * if the owner is a separate login.
 */
function auditCheck({ auditRights, auditMasters, user }: Seen): Check {
  if (auditRights.length > 0)
    return { name: 'audit', wrong: true, seen: `${serviceRole} may ${auditRights.join(', ')} it` }
  if (auditMasters.length === 0) return { name: 'audit', wrong: false, seen: 'append only' }
  const seen =
    `append only for ${serviceRole}, but not for whoever has the login ${user}: ` +
    `${auditMasters.join(', ')}. Set REGISTRY_MIGRATION_DATABASE_URL to a separate login for ` +
    'the owner.'
  return { name: 'audit', wrong: false, note: true, seen }
}
