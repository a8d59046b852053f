import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { locateBinaries, program } from '../../src/platform/embedded/binaries.ts'
import { rowsOf } from './database.ts'
import { until } from './process.ts'

export type Standby = {
  connection: pg.ClientConfig
  /** Pauses the replay: the standby still receives changes, but does not apply them. */
  pause: () => Promise<unknown>
  resume: () => Promise<unknown>
  kill: () => Promise<unknown>
}

/**
 * Starts a streaming standby of an embedded PostgreSQL, beside its data folder. The package of
 * PostgreSQL has no pg_basebackup, so this calls the same backup functions itself.
 */
export async function startStandby(primary: pg.ClientConfig): Promise<Standby> {
  const [place] = await rowsOf(
    primary,
    `select setting from pg_settings where name = 'data_directory'`,
  )
  const data: string = place.setting
  const copy = `${data}-standby`
  const { uid, gid } = statSync(data)
  await copyCluster(primary, data, copy)
  const own = (path: string, text: string) => writeFileSync(join(copy, path), text, { mode: 0o600 })
  own('standby.signal', '')
  for (const name of ['postmaster.pid', 'postmaster.opts'])
    rmSync(join(copy, name), { force: true })
  const sockets = join(dirname(data), 's2')
  mkdirSync(sockets, { mode: 0o700 })
  const isRoot = process.getuid?.() === 0
  if (isRoot) spawnSync('chown', ['-R', `${uid}:${gid}`, copy, sockets])
  const { user, password, host, port } = primary
  const settings = {
    listen_addresses: '',
    unix_socket_directories: sockets,
    max_connections: '100',
    shared_buffers: '32MB',
    primary_conninfo: `host=${host} port=${port} user=${user} password=${password}`,
  }
  const log = openSync(join(dirname(data), 'standby.log'), 'a')
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(
    program(locateBinaries(), 'postgres'),
    ['-D', copy, '-p', String(port), ...args],
    { stdio: ['ignore', log, log], cwd: '/', ...(isRoot && { uid, gid }) },
  )
  const connection = { ...primary, host: sockets }
  const ask = (text: string) => rowsOf(connection, text)
  await until('the standby to follow', () => ask('select 1').then(Boolean, () => false))
  return {
    connection,
    pause: () => ask('select pg_wal_replay_pause()'),
    resume: () => ask('select pg_wal_replay_resume()'),
    kill: () => ended(server),
  }
}

function ended(server: ChildProcess): Promise<unknown> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve()
  const exit = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGQUIT')
  return exit
}

async function copyCluster(primary: pg.ClientConfig, data: string, copy: string) {
  const client = new pg.Client(primary)
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    cpSync(data, copy, { recursive: true, verbatimSymlinks: true })
    const { rows } = await client.query('select labelfile from pg_backup_stop()')
    writeFileSync(join(copy, 'backup_label'), rows[0].labelfile)
  } finally {
    await client.end()
  }
}

/** Does the work while every commit of a server waits for a standby that does not exist. */
export async function withoutStandby(connection: pg.ClientConfig, work: () => Promise<unknown>) {
  const name = async (value: string) => {
    await rowsOf(connection, `alter system set synchronous_standby_names = '${value}'`)
    await rowsOf(connection, 'select pg_reload_conf()')
    await until('the setting', async () => {
      const [row] = await rowsOf(connection, 'show synchronous_standby_names')
      return row.synchronous_standby_names === value
    })
  }
  await name('nobody')
  await work().finally(() => name(''))
}
