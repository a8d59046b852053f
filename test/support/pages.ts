import assert from 'node:assert/strict'

type Page = { data: readonly number[]; body: Record<string, unknown> }

/** Asserts that the first four pages of a list have the wanted records, in both orders. */
export async function walksBothWays(
  read: (asked: string) => Promise<Page>,
  wanted: readonly number[],
  sizes: readonly number[],
) {
  for (const [order, expected] of [
    ['asc', wanted],
    ['desc', wanted.toReversed()],
  ] as const)
    for (const size of sizes)
      assert.deepEqual(
        await walked(read, `Order=${order}`, size),
        expected.slice(0, 4 * size),
        `${order}, pages of ${size}`,
      )
}

async function walked(read: (asked: string) => Promise<Page>, order: string, size: number) {
  const found: number[] = []
  let cursor: unknown = ''
  for (let page = 1; page <= 4 && cursor !== undefined; page++) {
    const next = await read(`${order}&PageSize=${size}${cursor && `&Cursor=${cursor}`}`)
    found.push(...next.data)
    cursor = next.body.nextCursor
  }
  return found
}
