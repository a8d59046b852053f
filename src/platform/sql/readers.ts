import type pg from 'pg'

/**
 * Standbys that serve reads. A user reads only from a standby that has replayed everything they
 * have written (read your writes); other users' writes are at most a few seconds old.
 *
 * The node that did a write knows its position in the log and sends it along in the answer; a
 * client that then asks another node sends the position with its request. Positions are kept for a
 * short time only, since a standby that is further behind than `oldest` serves nobody.
 */
export type Readers = {
  /** The log position of the user's latest commit; undefined where there are no standbys. */
  wrote(userID: number): Promise<string | undefined>
  /** Takes note of a position that a user brings from another node. */
  saw(userID: number, position: string): void
  choose(userID: number): Reader | undefined
  close(): Promise<void>
}

export type Reader = {
  pool: pg.Pool
  /** The last known replay position; undefined while the standby does not answer. */
  replayed: bigint | undefined
}

/** How often positions are asked for, in milliseconds. */
const interval = 200
/** A standby must have everything that was committed this long ago, whoever reads. */
const settling = 1_000
/** Without a sample of the primary's position younger than this, reads go to the primary. */
const oldest = 3_000
/** How long a user's position is kept; after that every usable standby has replayed it. */
const remembered = 5_000

type Sample = { at: number; position: bigint }

export function openReaders(pools: readonly pg.Pool[], primary: pg.Pool): Readers {
  const readers: Reader[] = pools.map((pool) => ({ pool, replayed: undefined }))
  if (readers.length === 0) return noReaders
  const users = new Map<number, Sample>()
  let samples: Sample[] = []
  let turn = 0

  const remember = (userID: number, position: bigint) => {
    const known = users.get(userID)?.position ?? 0n
    users.set(userID, { at: Date.now(), position: position > known ? position : known })
  }

  async function look() {
    const at = Date.now()
    const forget = (one: Sample, after: number) => one.at < at - after
    for (const [userID, one] of users) if (forget(one, remembered)) users.delete(userID)
    const [position] = await Promise.all([
      positionOf(primary, current),
      ...readers.map(async (reader) => {
        reader.replayed = await positionOf(reader.pool, replayed)
      }),
    ])
    samples = samples.filter((one) => !forget(one, oldest))
    if (position !== undefined) samples.push({ at, position })
  }

  let isClosed = false
  const watching = (async () => {
    while (!isClosed) {
      await look()
      await pause()
    }
  })()

  /** The position that every standby must have reached; undefined where it is unknown. */
  function settled(): bigint | undefined {
    const now = Date.now()
    const isOld = ({ at }: Sample) => at <= now - settling && at >= now - oldest
    return samples.findLast(isOld)?.position
  }

  return {
    async wrote(userID) {
      const position = await positionOf(primary, current)
      // Without an answer the needed position is unknown: take the highest there can be, so that
      // this user reads from the primary.
      remember(userID, position ?? newest)
      return position === undefined ? undefined : written(position)
    },
    saw(userID, position) {
      const given = parsed(position)
      if (given !== undefined) remember(userID, given)
    },
    choose(userID) {
      const everybody = settled()
      if (everybody === undefined) return undefined
      const own = users.get(userID)?.position ?? 0n
      const wanted = own > everybody ? own : everybody
      const able = readers.filter((one) => one.replayed !== undefined && one.replayed >= wanted)
      return able[turn++ % Math.max(1, able.length)]
    },
    async close() {
      isClosed = true
      await watching
      await Promise.all(readers.map(({ pool }) => pool.end()))
    },
  }
}

const noReaders: Readers = {
  wrote: async () => undefined,
  saw: () => {},
  choose: () => undefined,
  close: async () => {},
}

const pause = () => new Promise((resolve) => setTimeout(resolve, interval).unref())

const current = 'select pg_current_wal_lsn()::text as position'
/**
 * A server outside recovery has its own log: its last replay position says nothing about this one.
 */
const replayed = `
  select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as position`

async function positionOf(pool: pg.Pool, statement: string): Promise<bigint | undefined> {
  try {
    const asked = { text: statement, query_timeout: oldest }
    const { rows } = await pool.query<{ position: string | null }>(asked)
    return parsed(rows[0]?.position ?? '')
  } catch {
    return undefined
  }
}

const newest = 2n ** 64n - 1n

/** A position as PostgreSQL writes it: 16/B374D848. */
function parsed(text: string): bigint | undefined {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text) ?? []
  return high && low ? (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) : undefined
}

const written = (position: bigint) =>
  `${(position >> 32n).toString(16)}/${(position & 0xffffffffn).toString(16)}`.toUpperCase()
