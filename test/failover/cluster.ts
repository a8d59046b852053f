import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  atEnd,
  endAll,
  findProgram,
  freePort,
  type Owner,
  obstacle,
  ownerOfServers,
  postgresOf,
  type Started,
  signalPid,
  start,
  until,
} from './processes.ts'

/** Three PostgreSQL servers under Patroni; etcd decides which one leads, and HAProxy finds it. */
export type Cluster = {
  folder: string
  /** A connection to the current leader, through HAProxy. */
  connection: { host: string; port: number; user: string; password: string; database: string }
  leader: () => Promise<Node | undefined>
  /** Waits until one server leads, one is its synchronous standby, and the third follows, too. */
  whole: () => Promise<void>
}

export type Node = {
  name: string
  patroniPid: () => number
  postgresPids: () => number[]
  /** Starts Patroni, which then starts PostgreSQL. */
  start: () => void
}

type Place = { name: string; folder: string; data: string; port: number; rest: number }
type Programs = { etcd: string; patroni: string; haproxy: string; postgres: string }
type Login = { username: string; password: string }
type Logins = { superuser: Login; replication: Login; rewind: Login }

/** The paths of all programs, or the names of those that are not installed. */
export function findPrograms(): Programs | string[] {
  const found = {
    etcd: findProgram('etcd'),
    patroni: findProgram('patroni'),
    haproxy: findProgram('haproxy'),
    postgres: findPostgres(),
  }
  const missing = Object.entries(found).flatMap(([name, file]) => (file ? [] : [name]))
  return missing.length > 0 ? missing : (found as Programs)
}

/** The folder of the newest PostgreSQL, as Debian installs it; 15 is the oldest supported. */
function findPostgres(): string | undefined {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root) : []
  const newest = Math.max(...versions.map(Number).filter((version) => version >= 15))
  return Number.isFinite(newest) ? join(root, String(newest), 'bin') : undefined
}

export async function startCluster(
  programs: Programs,
  { synchronous, keep }: { synchronous: boolean; keep: boolean },
): Promise<Cluster> {
  const owner = ownerOfServers()
  const folder = mkdtempSync(join(tmpdir(), 'registry-failover-'))
  const nodes: Node[] = []
  atEnd(() => {
    // Patroni first, else it would start PostgreSQL again.
    endAll()
    for (const node of nodes) for (const pid of node.postgresPids()) signalPid(pid, 'SIGKILL')
    if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
  own(folder, owner)
  const closed = obstacle(folder, owner)
  if (closed) throw new Error(closed)
  const logins: Logins = {
    superuser: { username: 'postgres', password: secret() },
    replication: { username: 'replicator', password: secret() },
    rewind: { username: 'rewinder', password: secret() },
  }
  const section = etcdSection(programs)
  const etcdPort = await startEtcd(programs, folder, owner, section === 'etcd')
  const agreement = { [section]: { host: `127.0.0.1:${etcdPort}` } }
  const places: Place[] = []
  for (const name of ['one', 'two', 'three']) {
    const place = join(folder, name)
    mkdirSync(place)
    own(place, owner)
    places.push({
      name,
      folder: place,
      data: join(place, 'data'),
      port: await freePort(),
      rest: await freePort(),
    })
  }
  for (const place of places) {
    const settings = patroniSettings(place, { programs, agreement, logins, synchronous })
    nodes.push(nodeOf(programs, place, owner, settings))
  }
  for (const node of nodes) node.start()
  const port = await startProxy(programs, folder, places)
  const { username: user, password } = logins.superuser
  const cluster = {
    folder,
    connection: { host: '127.0.0.1', port, user, password, database: 'postgres' },
    leader: async () => {
      const name = (await membersOf(places)).find(({ role }) => role === 'leader')?.name
      return nodes.find((node) => node.name === name)
    },
    whole: async () => {
      const wanted = synchronous ? 'leader,replica,sync_standby' : 'leader,replica,replica'
      await until('a leader, its standby and a replica', async () => {
        const up = (await membersOf(places)).filter(({ state }) => isUp.has(state))
        return String(up.map(({ role }) => role).sort()) === wanted
      })
    },
  }
  await cluster.whole()
  return cluster
}

const isUp = new Set(['running', 'streaming'])
const secret = () => randomBytes(16).toString('hex')

function own(folder: string, owner: Owner) {
  chmodSync(folder, 0o700)
  if (owner) chownSync(folder, owner.uid, owner.gid)
}

function nodeOf({ patroni }: Programs, place: Place, owner: Owner, settings: object): Node {
  // JSON is YAML, too.
  const file = join(place.folder, 'patroni.yml')
  writeFileSync(file, JSON.stringify(settings, null, 2), { mode: 0o600 })
  if (owner) chownSync(file, owner.uid, owner.gid)
  let process: Started | undefined
  return {
    name: place.name,
    patroniPid: () => process?.pid ?? 0,
    postgresPids: () => postgresOf(place.data),
    start: () => {
      process = start({
        file: patroni,
        args: [file],
        log: join(place.folder, 'patroni.log'),
        env: { HOME: place.folder, LC_ALL: 'C.UTF-8' },
        owner,
      })
    },
  }
}

type Settings = { programs: Programs; agreement: object; logins: Logins; synchronous: boolean }

/**
 * Patroni before 3.0.3 writes the leader's key in etcd 3 without checking who owns it by then. A
 * leader that was frozen and wakes up then takes the lead back, and writes acknowledged meanwhile
 * are lost; we saw this happen. With the older protocol of etcd Patroni does check.
 */
function etcdSection({ patroni }: Programs): 'etcd' | 'etcd3' {
  const said = spawnSync(patroni, ['--version']).stdout.toString()
  const [major = 0, minor = 0, patch = 0] = (/\d+(\.\d+)*/.exec(said)?.[0] ?? '')
    .split('.')
    .map(Number)
  const isOld = major < 3 || (major === 3 && minor === 0 && patch < 3)
  return isOld ? 'etcd' : 'etcd3'
}

/** The settings that docs/SCALING.md gives to operators, with other ports and folders. */
const patroniSettings = (place: Place, { programs, agreement, logins, synchronous }: Settings) => ({
  scope: 'registry',
  name: place.name,
  restapi: { listen: `127.0.0.1:${place.rest}`, connect_address: `127.0.0.1:${place.rest}` },
  ...agreement,
  bootstrap: {
    dcs: {
      ttl: 20,
      loop_wait: 5,
      retry_timeout: 5,
      synchronous_mode: synchronous,
      synchronous_mode_strict: synchronous,
      postgresql: {
        use_pg_rewind: true,
        parameters: {
          max_connections: 200,
          password_encryption: 'scram-sha-256',
          ...(!synchronous && { synchronous_commit: 'off', wal_writer_delay: '10s' }),
        },
      },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
  },
  postgresql: {
    listen: `127.0.0.1:${place.port}`,
    connect_address: `127.0.0.1:${place.port}`,
    data_dir: place.data,
    bin_dir: programs.postgres,
    pgpass: join(place.folder, 'pgpass'),
    authentication: logins,
    parameters: { unix_socket_directories: place.folder },
    pg_hba: [
      'host all all 127.0.0.1/32 scram-sha-256',
      'host replication replicator 127.0.0.1/32 scram-sha-256',
    ],
  },
})

async function startEtcd({ etcd }: Programs, folder: string, owner: Owner, speaksOld: boolean) {
  const [client, peer] = [await freePort(), await freePort()]
  const [clientURL, peerURL] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  start({
    file: etcd,
    args: [
      ['--name', 'agreement', '--data-dir', join(folder, 'etcd')],
      ['--listen-client-urls', clientURL, '--advertise-client-urls', clientURL],
      ['--listen-peer-urls', peerURL, '--initial-advertise-peer-urls', peerURL],
      ['--initial-cluster', `agreement=${peerURL}`],
      speaksOld ? ['--enable-v2'] : [],
    ].flat(),
    log: join(folder, 'etcd.log'),
    env: process.arch === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {},
    owner,
  })
  await until('etcd', async () => (await ask(`${clientURL}/health`))?.health === 'true')
  return client
}

/** Sessions with a former leader are ended, because its answers can no longer be trusted. */
const proxySettings = (port: number, places: Place[]) => `
global
  maxconn 2000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen leader
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${places.map(serverLine).join('\n')}
`

const serverLine = ({ name, port, rest }: Place) =>
  `  server ${name} 127.0.0.1:${port} check port ${rest}`

async function startProxy({ haproxy }: Programs, folder: string, places: Place[]): Promise<number> {
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, proxySettings(port, places))
  start({ file: haproxy, args: ['-f', file, '-db'], log: join(folder, 'haproxy.log') })
  return port
}

type Member = { name: string; role: string; state: string }

/** The members of the cluster, as told by any member that answers and knows a leader. */
async function membersOf(places: Place[]): Promise<Member[]> {
  for (const { rest } of places) {
    const members: Member[] = (await ask(`http://127.0.0.1:${rest}/cluster`))?.members ?? []
    if (members.some(({ role }) => role === 'leader')) return members
  }
  return []
}

// biome-ignore lint/suspicious/noExplicitAny: answers of other programs
async function ask(url: string): Promise<any> {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(1_000) })).json()
  } catch {
    return undefined
  }
}
