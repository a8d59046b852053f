import type { IncomingHttpHeaders } from 'node:http'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Actor } from '../actor.ts'
import type { Access, Resource } from '../permission.ts'
import type { Fragment, Sql, Tx } from '../sql/handle.ts'
import type { Answer } from '../sql/render.ts'
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
  actor: Actor
  headers: IncomingHttpHeaders
}

type Declaration<Q extends TObject, B extends TSchema> = {
  operation: Operation
  access: Access
  summary: string
  description?: string
  query?: Q
  body?: B
  /** The schema of the envelope's `data`. */
  data: TSchema
  /** The Version header is not asked for. */
  anyVersion?: boolean
  /** A public endpoint that yet wants to know who asks, where they say so. */
  recognises?: boolean
  /** Fields of the data that also stand at the top level, beside the envelope's. */
  beside?: readonly string[]
}

/** A read may take a body: POST /Distribution/Preview does, and yet writes nothing. */
type ReadEndpoint<Q extends TObject, B extends TSchema> = Declaration<Q, B> & {
  read: (request: Request<Static<Q>, Static<B>>, handle: Sql) => Promise<Answer>
}

/** For a read without pages: its rows go out as they come, whatever their number. */
type StreamEndpoint<Q extends TObject> = Declaration<Q, TSchema> & {
  select: (request: Request<Static<Q>, never>) => Fragment
}

type InTurn = <T>(work: () => Promise<T>, request: Request<unknown, unknown>) => Promise<T>

type WriteEndpoint<Q extends TObject, B extends TSchema> = Declaration<Q, B> & {
  /** What the audit record is about. */
  resource: Resource
  /** The answer holds secrets: it is kept sealed under an Idempotency-Key. */
  secret?: boolean
  /** Where the work waits for its turn before it takes a connection. */
  inTurn?: InTurn
} & (
    | { write: (request: Request<Static<Q>, Static<B>>, tx: Tx) => Promise<Written> }
    /** The unit of work is shared with others; see ledger/biz-transaction/door.ts. */
    | { through: (request: Request<Static<Q>, Static<B>>, write: Write) => Promise<Outcome> }
  )

/** A write whose body brings a file, as JSON with the content in base64 or as a form. */
type UploadEndpoint<Q extends TObject, B extends TObject> = Declaration<Q, B> & {
  resource: Resource
  upload: FileDoor
  write: (
    request: Request<Static<Q>, Omit<Static<B>, 'content'> & KeptFile>,
    tx: Tx,
  ) => Promise<Written>
}

/** A read that hands out a file: its query has rawParameter. */
type DownloadEndpoint<Q extends TObject> = Declaration<Q, TSchema> & {
  download: (request: Request<Static<Q>, never>) => Promise<Download>
}

/** An endpoint with its types forgotten: what the server mounts and the document lists. */
export type Endpoint = Declaration<TObject, TSchema> & {
  resource?: Resource
  secret?: boolean
  inTurn?: InTurn
  read?: (request: Request<unknown, unknown>, handle: Sql) => Promise<Answer>
  select?: (request: Request<unknown, unknown>) => Fragment
  write?: (request: Request<unknown, unknown>, tx: Tx) => Promise<Written>
  through?: (request: Request<unknown, unknown>, write: Write) => Promise<Outcome>
  upload?: FileDoor
  download?: (request: Request<unknown, unknown>) => Promise<Download>
}

export const reading = <Q extends TObject, B extends TSchema>(endpoint: ReadEndpoint<Q, B>) =>
  endpoint as unknown as Endpoint
export const streaming = <Q extends TObject>(endpoint: StreamEndpoint<Q>) =>
  endpoint as unknown as Endpoint
export const writing = <Q extends TObject, B extends TSchema>(endpoint: WriteEndpoint<Q, B>) =>
  endpoint as unknown as Endpoint

export const uploading = <Q extends TObject, B extends TObject>(endpoint: UploadEndpoint<Q, B>) =>
  endpoint as unknown as Endpoint
export const downloading = <Q extends TObject>(endpoint: DownloadEndpoint<Q>) =>
  endpoint as unknown as Endpoint

export const methodOf = ({ operation }: Endpoint) => operation.split(' ')[0] as Method
export const pathOf = ({ operation }: Endpoint) => operation.split(' ')[1]!

export const arrayOf = (item: TSchema) => Type.Array(item)
export const nothing = Type.Null()
