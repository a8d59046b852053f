import type pg from 'pg'

/**
 * Standbys that serve reads. A user is read to from one that has replayed everything they have
 * written: read your writes, always. What others have written is at most a few seconds old.
 *
 * A write's position in the log is known to the node that did it, and travels in the answer: who
 * then asks another node sends it along. It need not be kept for long, since a standby that is
 * further behind than `oldest` serves nobody.
 */
export type Readers = {
  /** The position of what a user has just committed; nothing where there are no standbys. */
  wrote(userID: number): Promise<string | undefined>
  /** A position that a user brings along from another node. */
  saw(userID: number, position: string): void
  choose(userID: number): Reader | undefined
  close(): Promise<void>
}

export type Reader = {
  pool: pg.Pool
  /** Up to where it had replayed when it was last asked; nothing while it does not answer. */
  replayed: bigint | undefined
}

/** Positions are asked for at this interval, in milliseconds. */
const interval = 200
/** What was committed so long ago must be on a standby, whoever reads. */
const settling = 1_000
/** A gap in what is known of the primary's log that is longer than this sends reads there. */
const oldest = 3_000
/** By then a standby that may be read from has it anyway. */
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

  /** What every reader must have; nothing where that is not known. */
  function settled(): bigint | undefined {
    const now = Date.now()
    const isOld = ({ at }: Sample) => at <= now - settling && at >= now - oldest
    return samples.findLast(isOld)?.position
  }

  return {
    async wrote(userID) {
      const position = await positionOf(primary, current)
      // Without an answer nobody knows how far a standby must be: the newest there can be.
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
/** A server that is no standby has its own log: what it has replayed says nothing of it. */
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
