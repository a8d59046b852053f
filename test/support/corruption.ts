import type pg from 'pg'

/** Returns how many rows a check finds after a corruption, and undoes the corruption. */
export async function foundAfter(
  client: pg.Client,
  corruption: string,
  violations: string,
): Promise<number> {
  await client.query('begin')
  try {
    await client.query(corruption)
    const { rowCount } = await client.query(violations)
    return rowCount ?? 0
  } finally {
    await client.query('rollback')
  }
}
