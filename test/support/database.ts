import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** The server that test/run.ts started for this run; each test file clones its template. */
const server = (): pg.ClientConfig => {
  const given = process.env.REGISTRY_TEST_SERVER
  if (!given) throw new Error('Run the tests with npm test, which starts the database they need.')
  return JSON.parse(given)
}

/** The workers of a Citus cluster (test/citus/run.ts); each has a database of the same name. */
const workers = (): pg.ClientConfig[] => JSON.parse(process.env.REGISTRY_TEST_WORKERS ?? '[]')

/** Whether the ledger is spread over several servers in this run. */
export const isSpread = workers().length > 0

export const templateName = 'registry_template'

/** A new, migrated database for one test file. It disappears with the server after the run. */
export async function freshDatabase(): Promise<pg.ClientConfig> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await cloneTemplate(name)
  return { ...server(), database: name }
}

/** Clones the template on every server of a cluster; the clones know each other as templates do. */
const cloneTemplate = (name: string) =>
  administer(`create database ${name} template ${templateName}`, [server(), ...workers()])

/** An empty database, for tests of code that migrates it. */
export async function emptyDatabase(how = ''): Promise<pg.ClientConfig> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(`create database ${name} ${how}`)
  return { ...server(), database: name }
}

async function administer(statement: string, servers = [server()]) {
  await Promise.all(servers.map((one) => rowsOf({ ...one, database: 'postgres' }, statement)))
}

/** A connection as a URL, for a service in another process. */
export const urlOf = ({ host, port, user, password, database }: pg.ClientConfig) =>
  `postgres://${user}:${encodeURIComponent(String(password))}@/${database}` +
  `?host=${encodeURIComponent(String(host))}&port=${port}`

/** How many sessions wait for a lock in a database, on all servers of the cluster. */
export async function waitingForLocks({ database }: pg.ClientConfig): Promise<number> {
  let waiting = 0
  for (const one of [server(), ...workers()]) {
    const [row] = await rowsOf(
      { ...one, database: 'postgres' },
      `select count(*)::int as n from pg_stat_activity
      where datname = $1 and wait_event_type = 'Lock'`,
      [database],
    )
    waiting += row.n
  }
  return waiting
}

/** Ends the sessions that wait for a lock; returns whether there were any. */
export async function endWaiting(connection: pg.ClientConfig): Promise<boolean> {
  const ended = await rowsOf(
    connection,
    `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return ended.length > 0
}

/** Rows straight from the database, where a test must see what no answer shows. */
export async function rowsOf(connection: pg.ClientConfig, text: string, values: unknown[] = []) {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const { rows } = await client.query(text, values)
    return rows
  } finally {
    await client.end()
  }
}

/**
 * Why tests that lock a row of a copied table by hand are skipped on Citus: such a lock covers the
 * whole table there, which the lock of a foreign key check does not.
 */
export const skipSpread = isSpread && 'a lock by hand is one of the whole table there'

/** Does the work while another session holds a row `for key share`, as an atomic import does. */
export async function whileReferredTo<T>(
  connection: pg.ClientConfig,
  { table, id }: { table: 'product' | 'investment'; id: number },
  work: () => Promise<T>,
): Promise<T> {
  const holder = new pg.Client(connection)
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query(`select 1 from ${table} where ${table}_id = $1 for key share`, [id])
    return await work()
  } finally {
    await holder.end()
  }
}
