import assert from 'node:assert/strict'
import type { Client } from './client.ts'
import { registryOf } from './registry.ts'

export type Told = {
  eventID: number
  cursor: string
  type: string
  productID: number | null
  resource: string
  ids: number[]
  counts: Record<string, number> | null
  userID: number | null
}

/** Reads the event feed once. */
export async function readEvents(client: Client, query: Record<string, string | number> = {}) {
  const page = await registryOf(client).get('/Event', query)
  return { events: page.data as Told[], cursor: (page as unknown as { cursor: string }).cursor }
}

/**
 * Reads the events after a cursor until there are as many as expected. This may take a while: the
 * feed ends before the oldest open database transaction of the server, which other tests share.
 */
export async function eventsAfter(
  client: Client,
  cursor: string,
  count: number,
  query: Record<string, string | number> = {},
  countOf: (seen: readonly Told[]) => number = (seen) => seen.length,
): Promise<Told[]> {
  const seen: Told[] = []
  let After = cursor
  for (let turns = 0; countOf(seen) < count; turns++) {
    assert.ok(turns < 100, `Waited in vain for ${count} events: ${JSON.stringify(seen)}`)
    const read = await readEvents(client, { ...query, After, Wait: 2 })
    seen.push(...read.events)
    After = read.cursor
  }
  return seen
}

/** The cursor after everything committed so far: that of a product created to mark the place. */
export async function feedEnd(client: Client): Promise<string> {
  const { cursor } = await readEvents(client, { After: 'now' })
  const { data } = await client.post('/Product', { name: 'A mark in the feed' })
  for (let After = cursor; ; ) {
    const [event] = await eventsAfter(client, After, 1, { Type: 'product.created', PageSize: 1 })
    if (event!.ids[0] === data[0].productID) return event!.cursor
    After = event!.cursor
  }
}

/** How many records events name: postings that arrive together share one (decision 0430). */
export const recordsIn = (events: readonly Told[]) =>
  events.reduce((sum, { ids }) => sum + ids.length, 0)
