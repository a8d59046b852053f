import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder, syncFolder } from '../folder.ts'
import { type Binaries, copyBinaries, locateBinaries, program, restoreLinks } from './binaries.ts'
import { draftName, sweepDrafts } from './drafts.ts'
import { canReach, chooseIdentity, cleanEnvironment, type Identity } from './identity.ts'
import { demandPassword, keyFolder, makePassword } from './password.ts'

/** A database cluster on disk, ready to be started. */
export type Cluster = {
  dataDir: string
  folder: string
  socketFolder: string
  logFile: string
  /** Unique to the folder; shown in the titles of its processes. */
  name: string
  password: string
  /** The password of the service's login; `password` is the superuser's. */
  servicePassword: string
  binaries: Binaries
  identity: Identity
}

/** The login for the launcher and migrations only. */
export const superuser = 'postgres'
/** The service's login: it owns nothing and has no rights over other roles. */
export const serviceLogin = 'registry_app'
export const port = 5432 // only names the socket: nothing listens on the network
const socketName = `.s.PGSQL.${port}`

export const clusterFolder = (dataDir: string) => join(dataDir, 'postgres')

/** Finds the cluster of a data folder, or creates it. */
export async function prepareCluster(given: string): Promise<Cluster & { created: boolean }> {
  makeFolder(given)
  const dataDir = realpathSync(given)
  const owner = clusterOwner(dataDir)
  const { binaries, identity } = await chooseRunner(dataDir, owner)
  for (const folder of [dataDir, keyFolder(dataDir)]) await sweepDrafts(folder)
  const password = owner === undefined ? makePassword(dataDir) : demandPassword(dataDir)
  const servicePassword = makePassword(dataDir, 'service-password')
  const name = `registry-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
  const cluster = {
    dataDir,
    folder: clusterFolder(dataDir),
    socketFolder: makeSocketFolder(dataDir, name, identity),
    logFile: join(dataDir, 'postgres.log'),
    name,
    password,
    servicePassword,
    binaries,
    identity,
  }
  if (owner === undefined) await createCluster(cluster)
  checkVersion(cluster)
  return { ...cluster, created: owner === undefined }
}

function clusterOwner(dataDir: string): number | undefined {
  const marker = join(clusterFolder(dataDir), 'PG_VERSION')
  try {
    return statSync(marker, { throwIfNoEntry: false })?.uid
  } catch {
    throw new Error(
      `The database in ${dataDir} belongs to another user: ${marker} cannot be read. ` +
        'Start the registry as that user, or set REGISTRY_DATA_DIR to another folder.',
    )
  }
}

async function chooseRunner(dataDir: string, owner: number | undefined) {
  let binaries = locateBinaries()
  const linked = restoreLinks(binaries)
  if (!linked) binaries = await copyBinaries(binaries, dataDir)
  let choice = chooseIdentity(binaries, dataDir, owner)
  const elsewhere = choice.obstacles?.some(({ where }) => where === 'program')
  if (elsewhere && linked && process.getuid?.() === 0) {
    // Only root can enter the package's folder, and user namespaces are forbidden.
    binaries = await copyBinaries(binaries, dataDir)
    choice = chooseIdentity(binaries, dataDir, owner)
  }
  if (choice.identity) return { binaries, identity: choice.identity }
  const problems = choice.obstacles.map(({ problem }) => problem).join('; ')
  throw new Error(
    `The built-in PostgreSQL cannot run here (${problems}): ` +
      'set DATABASE_URL to a PostgreSQL server, or start the registry as a normal user.',
  )
}

/**
 * Makes a folder that only the database's user can enter, on a path short enough for a socket
 * address.
 */
function makeSocketFolder(dataDir: string, name: string, identity: Identity): string {
  const parents = [tmpdir(), '/tmp'].filter((parent) => canReach(identity, parent))
  const folder = [join(dataDir, 'socket'), ...parents.map((parent) => join(parent, name))].find(
    (place) => Buffer.byteLength(join(place, socketName)) < 100,
  )
  if (!folder) throw new Error(`The path ${dataDir} is too long: set REGISTRY_DATA_DIR.`)
  mkdirOwn(folder)
  // In /tmp anyone could have taken the name, or made it a link to somewhere else.
  const found = lstatSync(folder)
  const ours = [identity.uid, process.getuid?.()].includes(found.uid)
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    throw new Error(`${folder} must be a folder of ours alone, and is not: remove it.`)
  }
  if (found.uid !== identity.uid) chownSync(folder, identity.uid, identity.gid)
  return folder
}

function mkdirOwn(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Creates the cluster under a draft name and renames it when it is complete. */
async function createCluster(cluster: Cluster): Promise<void> {
  const { uid, gid } = cluster.identity
  const draft = draftName(cluster.folder)
  const passwordCopy = join(draft, 'password')
  mkdirSync(draft, { mode: 0o700 })
  try {
    writeFileSync(passwordCopy, cluster.password, { mode: 0o600, flag: 'wx' })
    chownSync(passwordCopy, uid, gid)
    chownSync(draft, uid, gid) // last, so that the other user cannot put a link where we write
    await initdb(cluster, join(draft, 'cluster'), passwordCopy)
    renameSync(join(draft, 'cluster'), cluster.folder)
    syncFolder(cluster.dataDir)
  } catch (error) {
    if (clusterOwner(cluster.dataDir) === undefined) throw explained(error, cluster.folder)
    // Otherwise another process was faster.
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const explained = (error: unknown, folder: string) =>
  (error as NodeJS.ErrnoException).code === 'ENOTEMPTY'
    ? new Error(`${folder} is not empty and holds no database: move it away.`)
    : error

async function initdb(cluster: Cluster, folder: string, passwordCopy: string): Promise<void> {
  const options = [
    `--pgdata=${folder}`,
    `--username=${superuser}`,
    `--pwfile=${passwordCopy}`,
    '--auth=scram-sha-256',
    '--data-checksums',
    '--encoding=UTF8',
    // The same sort order and case rules on every machine, whatever its locales.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--lc-collate=C',
    '--lc-ctype=C',
    '--no-instructions',
  ]
  const problem = await runAs(cluster, [program(cluster.binaries, 'initdb'), ...options])
  rmSync(passwordCopy, { force: true })
  if (problem) throw new Error(`No database could be created in ${cluster.dataDir}: ${problem}`)
}

function runAs({ identity, dataDir }: Cluster, command: string[]): Promise<string | undefined> {
  const [file = '', ...args] = [...identity.prefix, ...command]
  const options = { ...identity.spawn, cwd: dataDir, env: cleanEnvironment() }
  return new Promise((resolve) => {
    execFile(file, args, options, (error, _stdout, stderr) =>
      resolve(error ? stderr.trim().replaceAll('\n', ' ') || error.message : undefined),
    )
  })
}

function checkVersion({ folder, binaries }: Cluster): void {
  const made = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  const [ours] = binaries.version.split('.')
  if (made === ours) return
  throw new Error(
    `The database in ${folder} is of PostgreSQL ${made}, and this release runs ${ours}: ` +
      'export it with the release that made it.',
  )
}
