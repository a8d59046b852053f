import type { IncomingHttpHeaders } from 'node:http'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Actor } from '../actor.ts'
import type { EventType } from '../event-types.ts'
import type { Access, Permission, Resource } from '../permission.ts'
import type { ItemPath } from '../shape/path.ts'
import type { Fragment, Sql, Tx } from '../sql/handle.ts'
import type { Shown } from '../sql/render.ts'
import type { Outcome, Write, Written } from '../sql/unit-of-work.ts'
import type { Download } from './download.ts'
import type { FileDoor, KeptFile } from './upload.ts'

/**
 * One declaration per endpoint gives the route, the validation, the permission, the entry in the
 * OpenAPI document and the types of the handler. Reads get a handle that cannot write; writes get
 * the transaction of a unit of work.
 */
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Operation = `${Method} /${string}`

export type Request<Query, Body> = {
  query: Query
  body: Body
  /** The path of the nth item of the body, where the body is a list. */
  pathOf: ItemPath
  actor: Actor
  /**
   * Whose share of limited resources the request uses: the user's, or that of an unknown caller's
   * address.
   */
  caller: string
  headers: IncomingHttpHeaders
  /** The caller's address; behind a proxy, the address that the proxy saw. */
  address: string
  /** The secret that the write made, and its caller was shown, when it was kept for approval. */
  secret?: string | undefined
}

/** Which reads return one record and so carry an ETag. */
export type Tagging = {
  /** The query parameters that select one record. */
  by: readonly string[]
  /**
   * Fields that change without anybody writing the record; the tag leaves them out, at any depth.
   */
  without?: readonly string[]
}

type Declaration<Q extends TObject = TObject, B extends TSchema = TSchema> = {
  operation: Operation
  access: Access
  /** The operationId, where the one derived from method and path would not suit a person. */
  name?: string
  summary: string
  description?: string
  query?: Q
  body?: B
  /** The schema of the envelope's `data`. */
  data: TSchema
  /** The schema of `data` in a 202: the work is accepted and not done yet. */
  accepted?: TSchema
  /**
   * For a read: a single record carries an ETag, and PUT and DELETE at this path accept it in
   * If-Match.
   */
  etag?: Tagging
  /**
   * For an operation that all users may do for themselves: the permission to do it for another
   * user.
   */
  ofOthers?: Permission
  /** API keys may not call it: it concerns the person who signs in. */
  peopleOnly?: boolean
  /** Also open to users who must still enrol the required second factor. */
  whileEnrolling?: boolean
  /** The Version header is not required. */
  anyVersion?: boolean
  /** A public endpoint that authenticates the caller if the request has an Authorization header. */
  recognises?: boolean
  /** Must be read on the primary: a standby cannot serve the event feed (docs/decisions/0141). */
  current?: boolean
  /**
   * Never waits for a turn: the health check, by which others find out whether the node is busy.
   */
  atOnce?: boolean
  /** Fields of `data` that are repeated at the top level of the envelope. */
  beside?: readonly string[]
  /** Names of texts that the read itself adds at the top level of the envelope. */
  texts?: readonly string[]
  /** Failures that only this operation has, by status. */
  failures?: Readonly<Record<number, string>>
}

// Handlers are declared as methods because TypeScript allows narrower parameters for methods: each
// handler has the types of its own schemas, and the server reads its requests by these schemas.

/** A read may take a body: POST /Distribution/Preview has one and writes nothing. */
type Reads<Query, Body> = { read(request: Request<Query, Body>, handle: Sql): Promise<Shown> }

/**
 * A read of all rows, sent as they come from the database, whatever their number. A request with
 * paging parameters gets a page.
 */
type Streams<Query> = {
  select(request: Request<Query, unknown>): Fragment
  page(request: Request<Query, unknown>, handle: Sql): Promise<Shown>
}

export type InTurn = <T>(work: () => Promise<T>, request: Request<unknown, unknown>) => Promise<T>

/** What every write declares. */
type Audited = {
  /** The resource of the audit record. */
  resource: Resource
  /** The event that it raises; absent: derived from method and path; null: none. */
  event?: EventType | null
  /** The answer holds secrets: it is encrypted when it is kept under an Idempotency-Key. */
  secret?: boolean
  /**
   * Rebuilds the answer from the kept text, where the write's own SQL statement keeps a shorter
   * form.
   */
  unpack?: (kept: string) => string
  /** Its answer is never kept, so an Idempotency-Key has no effect. */
  neverReplayed?: boolean
  /** The queue in which the write waits for its turn before it takes a connection. */
  inTurn?: InTurn
}

type Writes<Query, Body> = Audited & {
  write(request: Request<Query, Body>, tx: Tx): Promise<Written>
  /**
   * For a write that waits for approval: refuses an approver (the request's actor then) who already
   * has a part in it.
   */
  refuseApprover?(request: Request<Query, Body>, tx: Tx): Promise<unknown>
}

/** A write that may share a transaction with other writes; see ledger/biz-transaction/door.ts. */
type Shares<Query, Body> = Audited & {
  /** Runs the write through a queue of its own; `inTurn` is the queue of all other writes. */
  through(request: Request<Query, Body>, write: Write, inTurn: InTurn): Promise<Outcome>
  /** Runs the write alone in an existing transaction, as an approval does. */
  alone(request: Request<Query, Body>, tx: Tx): Promise<Written>
}

/** A write whose body brings a file, as JSON with the content in base64 or as a form. */
type Uploads<Query, Body> = Writes<
  Query,
  Omit<Body, 'content'> & (Body extends { content: string } ? KeptFile : Partial<KeptFile>)
> & {
  upload: FileDoor
  /** Refuses a request whose record cannot take a file, before the file is stored. */
  check(request: Request<Query, Body>, handle: Sql): Promise<unknown>
}

/** A read that returns a file: its query has rawParameter. */
type Downloads<Query> = { download(request: Request<Query, unknown>): Promise<Download> }

export type ReadEndpoint = Declaration & { kind: 'read' } & Reads<unknown, unknown>
export type StreamEndpoint = Declaration & { kind: 'stream' } & Streams<unknown>
export type OwnWriteEndpoint = Declaration & { kind: 'write' } & Writes<unknown, unknown>
export type SharedWriteEndpoint = Declaration & { kind: 'shared' } & Shares<unknown, unknown>
export type UploadEndpoint = Declaration & { kind: 'upload'; body: TObject } & Uploads<
    unknown,
    object
  >
export type DownloadEndpoint = Declaration & { kind: 'download' } & Downloads<unknown>
export type WriteEndpoint = OwnWriteEndpoint | SharedWriteEndpoint | UploadEndpoint

/** What the server mounts and the document lists. */
export type Endpoint = ReadEndpoint | StreamEndpoint | WriteEndpoint | DownloadEndpoint

export const reading = <Q extends TObject, B extends TSchema>(
  endpoint: Declaration<Q, B> & Reads<Static<Q>, Static<B>>,
): Endpoint => ({ ...endpoint, kind: 'read' })

export const streaming = <Q extends TObject>(
  endpoint: Declaration<Q> & Streams<Static<Q>>,
): Endpoint => ({ ...endpoint, kind: 'stream' })

export const writing = <Q extends TObject, B extends TSchema>(
  endpoint: Declaration<Q, B> & Writes<Static<Q>, Static<B>>,
): Endpoint => ({ ...endpoint, kind: 'write' })

export const sharing = <Q extends TObject, B extends TSchema>(
  endpoint: Declaration<Q, B> & Shares<Static<Q>, Static<B>>,
): Endpoint => ({ ...endpoint, kind: 'shared' })

export const uploading = <Q extends TObject, B extends TObject>(
  endpoint: Omit<Declaration<Q, B>, 'body'> & { body: B } & Uploads<Static<Q>, Static<B>>,
): Endpoint => ({ ...endpoint, kind: 'upload' })

export const downloading = <Q extends TObject>(
  endpoint: Declaration<Q> & Downloads<Static<Q>>,
): Endpoint => ({ ...endpoint, kind: 'download' })

export const isWrite = (endpoint: Endpoint): endpoint is WriteEndpoint =>
  ['write', 'shared', 'upload'].includes(endpoint.kind)

/** Whether an Idempotency-Key has an effect on the write. */
export const isReplayed = (endpoint: WriteEndpoint) => !endpoint.neverReplayed

/** The type Operation guarantees the two parts. */
const partsOf = ({ operation }: Endpoint) => operation.split(' ') as [Method, string]
export const methodOf = (endpoint: Endpoint) => partsOf(endpoint)[0]
export const pathOf = (endpoint: Endpoint) => partsOf(endpoint)[1]

export const arrayOf = (item: TSchema) => Type.Array(item)
export const nothing = Type.Null()

/**
 * Stores a write that must wait for approval; returns undefined if the write may be done at once.
 */
export type ApprovalGate = (
  endpoint: WriteEndpoint,
  request: Request<unknown, unknown>,
  write: Write,
  perform: (tx: Tx) => Promise<Written>,
) => Promise<Outcome | undefined>
