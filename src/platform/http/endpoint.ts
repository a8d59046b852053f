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
 * One declaration per endpoint: it is the route, the validation, the permission, the entry in the
 * OpenAPI document and the types of the handler. Reads get a handle that cannot write; writes get a
 * transaction that has passed the unit of work.
 */
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Operation = `${Method} /${string}`

export type Request<Query, Body> = {
  query: Query
  body: Body
  /** The path of the nth item of the body, where the body is a list. */
  pathOf: ItemPath
  actor: Actor
  /** Whose share of what costs it takes: a user's, or that of a stranger's address. */
  caller: string
  headers: IncomingHttpHeaders
  /** The caller's address, as the proxy saw it where there is one. */
  address: string
}

/** Which reads are of one record, and what of it changes without anybody writing it. */
export type Tagging = {
  /** The parameters that ask for one record. */
  by: readonly string[]
  /** Fields that the tag leaves out, at any depth. */
  without?: readonly string[]
}

type Declaration<Q extends TObject = TObject, B extends TSchema = TSchema> = {
  operation: Operation
  access: Access
  /** The operationId, where method and path do not give one that a person would choose. */
  name?: string
  summary: string
  description?: string
  query?: Q
  body?: B
  /** The schema of the envelope's `data`. */
  data: TSchema
  /** The schema of `data` where the work is taken on and not done yet (202). */
  accepted?: TSchema
  /** Of a read: one record carries an ETag, which PUT and DELETE at this path take back. */
  etag?: Tagging
  /** Of what all do for themselves: the permission it takes to do it for another user. */
  ofOthers?: Permission
  /** Not by an API key: it is about the person who signs in. */
  peopleOnly?: boolean
  /** Also by who is still to enrol the second factor that is asked for. */
  whileEnrolling?: boolean
  /** The Version header is not asked for. */
  anyVersion?: boolean
  /** A public endpoint that yet wants to know who asks, where they say so. */
  recognises?: boolean
  /** Must be read where it is written: standbys know no feed, and nobody of their own. */
  current?: boolean
  /** Never waits for a turn: health, which those ask who want to know whether we are busy. */
  atOnce?: boolean
  /** Fields of the data that also stand at the top level, beside the envelope's. */
  beside?: readonly string[]
  /** Texts that the read puts at the top level itself. */
  texts?: readonly string[]
  /** Failures that only this operation has, by status. */
  failures?: Readonly<Record<number, string>>
}

// Handlers are written as methods, whose parameters TypeScript lets be narrower: a handler knows
// the types of its own schemas, and the server hands it what it has read by these very schemas.

/** A read may take a body: POST /Distribution/Preview does, and yet writes nothing. */
type Reads<Query, Body> = { read(request: Request<Query, Body>, handle: Sql): Promise<Shown> }

/**
 * For a read without pages: its rows go out as they come, whatever their number. A request that
 * asks for a page gets one.
 */
type Streams<Query> = {
  select(request: Request<Query, unknown>): Fragment
  page(request: Request<Query, unknown>, handle: Sql): Promise<Shown>
}

export type InTurn = <T>(work: () => Promise<T>, request: Request<unknown, unknown>) => Promise<T>

/** What every write says of itself. */
type Audited = {
  /** What the audit record is about. */
  resource: Resource
  /** The event it raises; absent: by its method and path; null: none. */
  event?: EventType | null
  /** The answer holds secrets: it is kept sealed under an Idempotency-Key. */
  secret?: boolean
  /** Makes the text of an answer of what is kept, where a statement of its own keeps less. */
  unpack?: (kept: string) => string
  /** Its answer is never kept: an Idempotency-Key has no effect on it. */
  neverReplayed?: boolean
  /** Where the work waits for its turn before it takes a connection. */
  inTurn?: InTurn
}

type Writes<Query, Body> = Audited & {
  write(request: Request<Query, Body>, tx: Tx): Promise<Written>
  /** Where it waits: refuses an approver, who is its actor then, that has a part in it already. */
  refuseApprover?(request: Request<Query, Body>, tx: Tx): Promise<unknown>
}

/** A write whose unit of work is shared with others; see ledger/biz-transaction/door.ts. */
type Shares<Query, Body> = Audited & {
  /** Its door has an order of its own for those who wait; `inTurn` is that of all other writes. */
  through(request: Request<Query, Body>, write: Write, inTurn: InTurn): Promise<Outcome>
  /** The same by itself, in a transaction that is there already: where it waits for approval. */
  alone(request: Request<Query, Body>, tx: Tx): Promise<Written>
}

/** A write whose body brings a file, as JSON with the content in base64 or as a form. */
type Uploads<Query, Body> = Writes<
  Query,
  Omit<Body, 'content'> & (Body extends { content: string } ? KeptFile : Partial<KeptFile>)
> & {
  upload: FileDoor
  /** Refuses what has no place for a file, before anything of the file is kept. */
  check(request: Request<Query, Body>, handle: Sql): Promise<unknown>
}

/** A read that hands out a file: its query has rawParameter. */
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

/** Whether an Idempotency-Key has an effect on it. */
export const isReplayed = (endpoint: WriteEndpoint) => !endpoint.neverReplayed

/** An operation is a method and a path; its type says so. */
const partsOf = ({ operation }: Endpoint) => operation.split(' ') as [Method, string]
export const methodOf = (endpoint: Endpoint) => partsOf(endpoint)[0]
export const pathOf = (endpoint: Endpoint) => partsOf(endpoint)[1]

export const arrayOf = (item: TSchema) => Type.Array(item)
export const nothing = Type.Null()

/** Keeps a write that is to wait for approval; undefined: it is to be done at once. */
export type ApprovalGate = (
  endpoint: WriteEndpoint,
  request: Request<unknown, unknown>,
  write: Write,
  perform: (tx: Tx) => Promise<Written>,
) => Promise<Outcome | undefined>
