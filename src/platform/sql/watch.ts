import pg from 'pg'

/**
 * After this long without an answer to an SQL statement (in milliseconds), we check whether the
 * server still answers at all.
 */
const silence = 5_000
const patience = 3_000

export type Watch = <T>(client: pg.PoolClient, answer: Promise<T>) => Promise<T>

/**
 * Watches SQL statements on a server that may vanish silently: frozen, or cut off. Some SQL
 * statements take minutes, so their duration proves nothing. But if not even a new connection can
 * be opened, the waiting SQL statements are broken off and their callers get an error.
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
      else void client.end().catch(() => {}) // breaks off a running SQL statement
    }
    try {
      return await answer
    } finally {
      isOver = true
      clearTimeout(timer)
    }
  }
}

/** A server that refuses the connection with an SQLSTATE is alive. */
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
