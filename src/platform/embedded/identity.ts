import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, statSync } from 'node:fs'
import { type Binaries, program } from './binaries.ts'

/** The user that runs PostgreSQL, which refuses to run as root. */
export type Identity = {
  name: string
  /** The owner of the cluster's files. */
  uid: number
  gid: number
  /** How a program is started as this user: options of spawn, and a command prefix. */
  spawn: { uid?: number; gid?: number }
  prefix: string[]
}

/** Why a user cannot run PostgreSQL: the data folder is closed, or the program fails. */
export type Obstacle = { where: 'folder' | 'program'; problem: string }

/**
 * Chooses the first user that can run these programs on this data folder. An existing cluster must
 * be run by the user that owns it: its files are never given to another user.
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
 * For a folder that only root can enter: root under another user number, in a user namespace; the
 * files still belong to root. The number must have a user name, because initdb looks it up.
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

/** Why this user cannot run PostgreSQL here; undefined if it can. */
function obstacleFor(identity: Identity, binaries: Binaries, dataDir: string) {
  const closed = giveReach(identity, dataDir)
  if (closed) return { where: 'folder', problem: `${identity.name}: ${closed}` } as const
  // Asking for the version also loads the libraries: if that works, the server can start.
  const broken = attempt(identity, [program(binaries, 'postgres'), '--version'])
  if (broken) return { where: 'program', problem: `${identity.name}: ${broken}` } as const
  return undefined
}

/**
 * Lets only the database's group pass through a data folder that is closed to all but its owner.
 * The folder stays ours; the files in it stay closed by their own modes.
 */
function giveReach(identity: Identity, dataDir: string): string | undefined {
  const closed = reach(identity, dataDir)
  const { uid, gid, mode } = statSync(dataDir)
  if (!closed || uid !== process.getuid?.() || (mode & 0o077) !== 0) return closed
  if (!permit(dataDir, identity.gid, (mode & 0o700) | 0o010)) return closed
  if (!reach(identity, dataDir)) return undefined
  // a folder further up is closed, so opening this one does not help
  permit(dataDir, gid, mode & 0o7777)
  return closed
}

/** Changes group and mode of a folder; false where even root may not, as in some containers. */
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

/** Makes PostgreSQL end when our process ends, even if it is killed; only on Linux. */
function tiedToUs(identity: Identity): Identity {
  const tie = ['setpriv', '--pdeathsig', 'INT']
  if (attempt(identity, [...tie, 'true']) !== undefined) return identity
  // setpriv goes last (innermost), because a change of user or namespace clears the setting.
  return { ...identity, prefix: [...identity.prefix, ...tie] }
}

/** Runs a short command as this user; returns why it failed, or undefined if it worked. */
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

/** Keeps our secrets and the PG* variables of a shell from the database's processes. */
export const cleanEnvironment = () => ({
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C', // also keeps the log in English, because our code parses it
  TZ: 'UTC',
})
