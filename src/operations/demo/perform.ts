import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Actor } from '../../platform/actor.ts'
import { usualEvent } from '../../platform/event-types.ts'
import type { Endpoint, Operation, WriteEndpoint } from '../../platform/http/endpoint.ts'
import { permissions } from '../../platform/permission.ts'
import { bodyReader } from '../../platform/shape/input.ts'
import { itemPath } from '../../platform/shape/path.ts'
import type { Database, Tx } from '../../platform/sql/handle.ts'
import { unitOfWork, type Written } from '../../platform/sql/unit-of-work.ts'

/** The actor of the demonstration, with all rights: whoever makes one holds the registry. */
const nobody: Actor = {
  userID: 0,
  username: 'demo',
  sessionID: 'demo',
  permissions: new Set(permissions),
  productIDs: null,
}
const actorOf = (user: Made | undefined): Actor =>
  user ? { ...nobody, userID: user.userID!, username: String(user.username) } : nobody

/** A record of an answer, whose ids the next operation needs. */
export type Made = Record<string, number>

export type Perform = {
  /**
   * Does a write of the API with the body that a caller would send, as a given user or as `demo`.
   */
  do: (operation: Operation, body: unknown, how?: { as: Made }) => Promise<Made[]>
  /** Does a read of the API with a given query. */
  read: (operation: Operation, query: object) => Promise<Made[]>
  upload: (operation: Operation, body: object, content: Buffer) => Promise<void>
}

/**
 * Performs operations of the API without the network: checked, written and audited like any other.
 */
export function performer(database: Database, endpoints: Endpoint[]): Perform {
  const find = (operation: Operation) => {
    const found = endpoints.find((endpoint) => endpoint.operation === operation)
    if (found?.kind === 'write' || found?.kind === 'shared' || found?.kind === 'upload')
      return found
    throw new Error(`There is no write ${operation}.`)
  }
  const doorOf = (
    { operation, resource, event = usualEvent(operation) }: WriteEndpoint,
    { userID, username }: Actor,
  ) => ({
    userID: userID || null,
    username,
    operation,
    resource,
    event: event ?? null,
    requestID: randomUUID(),
  })
  const requestOf = (body: unknown, actor = nobody, query = {}) => ({
    query,
    body,
    pathOf: itemPath(body),
    actor,
    headers: {},
    caller: actor.username,
    address: '127.0.0.1',
  })
  const written = (endpoint: WriteEndpoint, body: unknown, actor = nobody) => {
    const request = requestOf(body, actor)
    const door = doorOf(endpoint, actor)
    if (endpoint.kind === 'shared') return endpoint.through(request, door, (work) => work())
    // The body of an upload was read by the upload's own schema.
    const write = endpoint.write as (taken: typeof request, tx: Tx) => Promise<Written>
    return unitOfWork(database, door, (tx) => write(request, tx))
  }
  const read = (endpoint: Endpoint, body: unknown) =>
    endpoint.body ? bodyReader(endpoint.body)(body).body : undefined
  return {
    do: async (operation, body, how) => {
      const endpoint = find(operation)
      const { answer } = await written(endpoint, read(endpoint, body), actorOf(how?.as))
      return recordsOf(answer)
    },
    read: async (operation, query) => {
      const endpoint = endpoints.find((one) => one.operation === operation)
      if (endpoint?.kind !== 'read') throw new Error(`There is no read ${operation}.`)
      return recordsOf(await endpoint.read(requestOf(undefined, nobody, query), database))
    },
    upload: async (operation, body, content) => {
      const endpoint = find(operation)
      if (endpoint.kind !== 'upload') throw new Error(`${operation} takes no file.`)
      const { upload } = endpoint
      const file = await upload.arrive(Readable.from([content]))
      try {
        const told = read(endpoint, { ...body, content: '' }) as Parameters<typeof upload.keep>[1]
        await upload.keep(file, told, (kept) => written(endpoint, { ...told, ...kept }))
      } finally {
        await file.discard()
      }
    },
  }
}

function recordsOf({ json }: { json: string | Buffer }): Made[] {
  const data = JSON.parse(String(json)) as Made | Made[] | null
  return Array.isArray(data) ? data : data ? [data] : []
}
