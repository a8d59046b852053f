import pg from 'pg'

/**
 * Runs the work on a connection of its own, outside the pools. If the connection breaks, the SQL
 * statement under way or the next one fails; without the listener the process would end with it.
 */
export async function withConnection<T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
