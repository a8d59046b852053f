import assert from 'node:assert/strict'
import { createClient } from '../../client/src/index.ts'
import type { Client } from './client.ts'

/** Types that allow tests to read any answer and send any body. */
// biome-ignore lint/suspicious/noExplicitAny: see above
type Answer = { responses: { 200: { content: { 'application/json': { data: any } } } } }
type Paths = Record<
  string,
  {
    get: Answer & { parameters: { query?: Record<string, unknown> } }
    post: Answer & { requestBody?: { content: { 'application/json': object } } }
  }
>

/** The client library of the registry (client/), signed in as a test's own client. */
export const registryOf = ({ url, authorization }: Client) =>
  createClient<Paths>({ baseUrl: url, credentials: { authorization, renew: async () => false } })

/** Makes one record through the client library, and returns it. */
export async function made(client: Client, path: string, body: object) {
  const [one, ...others] = await registryOf(client).post(path, body)
  assert.deepEqual(others, [])
  return one
}

/** Downloads a file through the client library. */
export async function bytesOf(client: Client, path: string, query: Record<string, unknown>) {
  const { body } = await registryOf(client).download(path, query)
  return Buffer.from(await new Response(body).arrayBuffer())
}
