import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, statSync } from 'node:fs'
import { type Binaries, program } from './binaries.ts'

/** Who runs PostgreSQL, which refuses to run as root. */
export type Identity = {
  name: string
  /** The owner of the cluster's files. */
  uid: number
  gid: number
  /** How a program is started as this user. */
  spawn: { uid?: number; gid?: number }
  prefix: string[]
}

/** What keeps a user from running PostgreSQL: the data folder is closed, or the program fails. */
export type Obstacle = { where: 'folder' | 'program'; problem: string }

/**
 * The first user that can run these programs on this data folder. A cluster that exists belongs to
 * the user that made it: another one is never given its files.
 */
export function chooseIdentity(binaries: Binaries, dataDir: string, clusterOwner?: number) {
  const candidates = identities().filter(
    ({ uid }) => clusterOwner === undefined || uid === clusterOwner,
  )
  if (candidates.length === 0) {
    throw new Error(
      `The database in ${dataDir} belongs to another user (uid ${clusterOwner}). ` +
        'Start the registry as that user, or set REGISTRY_DATA_DIR to another folder.',
    )
  }
  const obstacles: Obstacle[] = []
  for (const identity of candidates) {
    const obstacle = obstacleFor(identity, binaries, dataDir)
    if (!obstacle) return { identity: tiedToUs(identity) }
    obstacles.push(obstacle)
  }
  return { obstacles }
}

function identities(): Identity[] {
  const [uid, gid] = [process.getuid?.() ?? -1, process.getgid?.() ?? -1]
  if (uid !== 0) return [{ name: `uid ${uid}`, uid, gid, spawn: {}, prefix: [] }]
  return [...account('postgres'), ...account('nobody'), ...namespace(gid)]
}

function account(name: string): Identity[] {
  const [uid, gid] = [numberOf(['-u', name]), numberOf(['-g', name])]
  if (uid === undefined || gid === undefined) return []
  return [{ name: `user ${name}`, uid, gid, spawn: { uid, gid }, prefix: [] }]
}

/**
 * For a folder that only root can enter: root under another number, in a namespace of its own. The
 * files stay root's. It must be a number with a name, which initdb looks up.
 */
function namespace(gid: number): Identity[] {
  const [user, group] = [numberOf(['-u', 'nobody']), numberOf(['-g', 'nobody'])]
  const prefix = ['unshare', '--user', `--map-user=${user}`, `--map-group=${group}`]
  return [{ name: 'root in a user namespace', uid: 0, gid, spawn: {}, prefix }]
}

function numberOf(idArguments: string[]): number | undefined {
  const { status, stdout } = spawnSync('id', idArguments, { encoding: 'utf8' })
  return status === 0 ? Number(stdout) : undefined
}

/** What keeps this user from running PostgreSQL here, if anything does. */
function obstacleFor(identity: Identity, binaries: Binaries, dataDir: string) {
  const closed = giveReach(identity, dataDir)
  if (closed) return { where: 'folder', problem: `${identity.name}: ${closed}` } as const
  // Asking for the version also loads the libraries: what answers can be started.
  const broken = attempt(identity, [program(binaries, 'postgres'), '--version'])
  if (broken) return { where: 'program', problem: `${identity.name}: ${broken}` } as const
  return undefined
}

/**
 * Lets the database's group, and no one else, pass through a data folder that is closed to all but
 * its owner. The folder stays ours; what it holds stays closed by its own modes.
 */
function giveReach(identity: Identity, dataDir: string): string | undefined {
  const closed = reach(identity, dataDir)
  const { uid, gid, mode } = statSync(dataDir)
  if (!closed || uid !== process.getuid?.() || (mode & 0o077) !== 0) return closed
  if (!permit(dataDir, identity.gid, (mode & 0o700) | 0o010)) return closed
  if (!reach(identity, dataDir)) return undefined
  permit(dataDir, gid, mode & 0o7777) // a folder further up is closed, so this one need not open
  return closed
}

/** False where even root may not do it, as in some containers. */
function permit(folder: string, gid: number, mode: number): boolean {
  try {
    chownSync(folder, process.getuid?.() ?? -1, gid)
    chmodSync(folder, mode)
    return true
  } catch {
    return false
  }
}

/** The reason why this user cannot enter a folder, or undefined when it can. */
function reach(identity: Identity, folder: string): string | undefined {
  const problem = attempt(identity, ['test', '-x', folder])
  return problem && `cannot enter ${folder} (${problem})`
}

export const canReach = (identity: Identity, folder: string) => !reach(identity, folder)

/** Ends PostgreSQL with us even when we are killed, where the system can do that (Linux). */
function tiedToUs(identity: Identity): Identity {
  const tie = ['setpriv', '--pdeathsig', 'INT']
  if (attempt(identity, [...tie, 'true']) !== undefined) return identity
  // Innermost, because a change of user or namespace forgets the tie.
  return { ...identity, prefix: [...identity.prefix, ...tie] }
}

/** Runs a short command as this user; the reason why it failed, or undefined when it worked. */
function attempt({ prefix, spawn }: Identity, command: string[]): string | undefined {
  const [file = '', ...args] = [...prefix, ...command]
  const { error, status, stderr } = spawnSync(file, args, {
    ...spawn,
    cwd: '/',
    env: cleanEnvironment(),
    encoding: 'utf8',
    timeout: 10_000,
  })
  if (status === 0) return undefined
  return error?.message ?? (stderr.trim() || 'not permitted')
}

/** Neither our secrets nor the PG* variables of a shell reach the database's processes. */
export const cleanEnvironment = () => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C', // also makes the log English, which we read
  TZ: 'UTC',
})
