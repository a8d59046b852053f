import pg from 'pg'

/** A statement that says nothing for this long makes us ask whether its server still answers. */
const silence = 5_000
const patience = 3_000

export type Watch = <T>(client: pg.PoolClient, answer: Promise<T>) => Promise<T>

/**
 * Watches over statements on a server that may be gone without a word: frozen, or cut off. Some
 * statements take minutes, so their time tells nothing; but where not even a new connection can be
 * had, those that wait are let go, and their callers are told.
 */
export function watchOver(connection: pg.ClientConfig): Watch {
  let asking: Promise<boolean> | undefined
  const ask = () => {
    asking ??= answers(connection).finally(() => {
      asking = undefined
    })
    return asking
  }
  return async (client, answer) => {
    let timer = setTimeout(look, silence)
    let isOver = false
    async function look() {
      const isThere = await ask()
      if (isOver) return
      if (isThere) timer = setTimeout(look, silence)
      else void client.end().catch(() => {}) // in the middle of a statement this breaks it off
    }
    try {
      return await answer
    } finally {
      isOver = true
      clearTimeout(timer)
    }
  }
}

/** A server that refuses us in its own words is there. */
async function answers(connection: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: patience })
  client.on('error', () => {})
  try {
    await client.connect()
    void client.end().catch(() => {})
    return true
  } catch (error) {
    return /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '')
  }
}
