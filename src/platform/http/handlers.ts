import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Actor } from '../actor.ts'
import { usualEvent } from '../event-types.ts'
import { bodyReader, queryReader } from '../shape/input.ts'
import { itemPath } from '../shape/path.ts'
import type { Database, Sql, Tx } from '../sql/handle.ts'
import { asKnown } from '../sql/known.ts'
import type { Answer, Shown } from '../sql/render.ts'
import { unitOfWork, type Write, type Written } from '../sql/unit-of-work.ts'
import { callerOf } from './caller.ts'
import { answerFile, wantsBytes } from './download.ts'
import type {
  ApprovalGate,
  DownloadEndpoint,
  Endpoint,
  OwnWriteEndpoint,
  Request,
  SharedWriteEndpoint,
  UploadEndpoint,
  WriteEndpoint,
} from './endpoint.ts'
import { shownBody } from './envelope.ts'
import { type Condition, conditionReader, etagOf, type Taggings } from './etag.ts'
import { ofConstraint } from './failure.ts'
import { asksForPage, limitPages } from './paging.ts'
import type { ReadsInTurn } from './read-turns.ts'
import { type RetryOptions, retryKey } from './retry.ts'
import { answerSuccess } from './server.ts'
import { answerRows } from './stream.ts'
import { type InTurn, turns } from './turns.ts'
import { type KeptFile, receive } from './upload.ts'

export type HandlerOptions = RetryOptions & {
  database: Database
  maxPageSize: number
  taggings: Taggings
  /** Decides before every write, postings included, whether it must wait for approval. */
  approvals: ApprovalGate
  /** The queues of reads, and of writes without a queue of their own. */
  reads: ReadsInTurn
  writes: InTurn
}

/** A request as it was read, with the fields of its body that are ignored. */
type Taken = Request<unknown, unknown> & {
  ignored: readonly string[]
  /** The check that its If-Match header asks for. */
  condition: Condition | undefined
}
type Take = (request: FastifyRequest) => Taken
type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** The Fastify handler of an endpoint: reads the request, runs it, and answers. */
export function handlerOf(endpoint: Endpoint, options: HandlerOptions): Handler {
  const { database } = options
  const inShare = (taken: Taken) => (endpoint.atOnce ? database : shareOf(taken, options))
  const take = takerOf(endpoint, options)
  const show = (reply: FastifyReply, taken: Taken, read: Shown) => {
    const answer = withIgnored(read, taken)
    labelled(reply, endpoint, taken, answer)
    const { nextCursor } = answer.beside ?? {}
    if (nextCursor !== undefined) reply.header('next-cursor', nextCursor)
    return answerSuccess(reply, shownBody(answer))
  }
  switch (endpoint.kind) {
    case 'read':
      return async (request, reply) => {
        const taken = take(request)
        const isAnywhere = taken.actor && !endpoint.current && !endpoint.atOnce
        const handle = isAnywhere ? fromAny(taken, options) : inShare(taken)
        const read = await inItsTime(taken, options, handle, (of) => endpoint.read(taken, of))
        return show(reply, taken, read)
      }
    case 'stream':
      return async (request, reply) => {
        const taken = take(request)
        if (asksForPage(taken.query as object))
          return show(reply, taken, await endpoint.page(taken, fromAny(taken, options)))
        const label = (answer: Answer) => labelled(reply, endpoint, taken, answer)
        const select = endpoint.select(taken)
        return answerRows(reply, { database, select, handle: inShare(taken), label }, taken)
      }
    case 'download':
      return downloadHandler(endpoint, take)
    case 'upload':
      return uploadHandler(endpoint, take, options)
    default: {
      const perform = performer(endpoint, options)
      return async (request, reply) => perform(request, reply, take(request))
    }
  }
}

/**
 * Runs a read on the present data, or, with KnownAt, as one whole turn on the data known at a
 * moment.
 */
function inItsTime(
  taken: Taken,
  { database, reads }: HandlerOptions,
  present: Sql,
  read: (handle: Sql) => Promise<Shown>,
): Promise<Shown> {
  const { KnownAt } = taken.query as { KnownAt?: string }
  return KnownAt === undefined
    ? read(present)
    : reads(() => asKnown(database, KnownAt, read), taken)
}

/** Sets the ETag header of the single record that was asked for. */
function labelled(reply: FastifyReply, { etag }: Endpoint, { query }: Taken, answer: Shown) {
  const tag = etagOf(etag, query, answer)
  if (tag !== undefined) reply.header('etag', tag)
}

/**
 * Reads that wait for their turn before each SQL statement: a request that waits for news holds no
 * place.
 */
const shareOf = (taken: Taken, { database, reads }: HandlerOptions): Sql => ({
  query: (statement) => reads(() => database.query(statement), taken),
  isSpread: database.isSpread,
})

/**
 * Like shareOf, but from a standby if one has everything that the user has written. A write on
 * another node returns its log position in the answer, and the client sends it along here.
 */
function fromAny(taken: Taken, { database, reads }: HandlerOptions): Sql {
  const { actor, headers } = taken
  const position = headers[positionHeader]
  if (typeof position === 'string') database.readers.saw(actor.userID, position)
  const own = database.readFor(actor.userID)
  return { ...own, query: (statement) => reads(() => own.query(statement), taken) }
}

const noParameters = Type.Object({})

/** Reads a request by the schemas of its endpoint. */
function takerOf(endpoint: Endpoint, { maxPageSize, taggings }: HandlerOptions): Take {
  const { kind, body } = endpoint
  const readQuery = queryReader(limitPages(endpoint.query ?? noParameters, maxPageSize))
  // An upload's body is read while it arrives; see uploadHandler.
  const readBody = body && kind !== 'upload' ? bodyReader(body, endpoint.data) : noBody
  const readCondition = conditionReader(endpoint, taggings)
  return (request) => ({
    condition: readCondition(request.headers),
    query: readQuery(parametersOf(request)),
    ...readBody(request.body),
    pathOf: itemPath(request.body),
    // Null only on public endpoints, which do not use the actor; the gate refuses everybody else.
    actor: request.actor as Actor,
    caller: callerOf(request),
    headers: request.headers,
    address: request.ip,
  })
}

const noBody = () => ({ body: undefined, ignored: [] })

/** Adds the names of ignored fields to the message, so that misspelt names are noticed. */
function withIgnored<Told extends Shown>(answer: Told, { ignored }: Taken): Told {
  if (ignored.length === 0) return answer
  const told = `Ignored: ${ignored.join(', ')}.`
  return { ...answer, message: answer.message ? `${answer.message} ${told}` : told }
}

const parametersOf = ({ raw: { url = '' } }: FastifyRequest) => {
  const mark = url.indexOf('?')
  return mark < 0 ? [] : [...new URLSearchParams(url.slice(mark + 1))]
}

const downloadHandler =
  (endpoint: DownloadEndpoint, take: Take): Handler =>
  async (request, reply) => {
    const taken = take(request)
    // rawParameter is part of every download's query.
    const { Raw = wantsBytes(request.headers.accept) } = taken.query as { Raw?: boolean }
    return answerFile(reply, await endpoint.download(taken), Raw)
  }

type Perform = (request: FastifyRequest, reply: FastifyReply, taken: Taken) => Promise<unknown>

/** Runs a write in its turn through approvals and the unit of work, and answers. */
function performer(endpoint: WriteEndpoint, options: HandlerOptions): Perform {
  const perform = workOf(endpoint, options)
  const work = async (taken: Taken, write: Write) =>
    (await options.approvals(endpoint, taken, write, doing(endpoint, taken))) ??
    perform(taken, write)
  const event = eventOf(endpoint)
  const inTurn = endpoint.inTurn ?? (endpoint.kind === 'shared' ? atOnce : options.writes)
  return async (request, reply, taken) => {
    const retry = retryKey(taken, endpoint, options)
    const write = { ...writeOf(request, endpoint), event, retry }
    const { answer, replayed } = await inTurn(() => work(taken, write), taken).catch((error) => {
      throw (taken.pathOf(0) && ofConstraint(error, taken.body)) || error
    })
    if (replayed) reply.header('idempotency-replayed', 'true')
    if (answer.accepted) reply.code(202)
    const position = await options.database.readers.wrote(write.userID ?? 0)
    if (position !== undefined) reply.header(positionHeader, position)
    return answerSuccess(reply, shownBody(withIgnored(answer, taken), endpoint.beside))
  }
}

/**
 * The header with the log position after a write. A client that sends it along with its next read
 * sees the write on any node.
 */
const positionHeader = 'registry-position'

const atOnce = <T>(work: () => Promise<T>) => work()

function workOf(
  endpoint: OwnWriteEndpoint | SharedWriteEndpoint | UploadEndpoint,
  { database, writes }: HandlerOptions,
) {
  if (endpoint.kind === 'shared')
    return (taken: Taken, write: Write) => endpoint.through(taken, write, writes)
  return (taken: Taken, write: Write) => unitOfWork(database, write, doing(endpoint, taken))
}

/** The work of a write alone, to be run in an existing transaction. */
function doing(endpoint: WriteEndpoint, taken: Taken) {
  return async (tx: Tx): Promise<Written> => {
    const written =
      endpoint.kind === 'shared'
        ? await endpoint.alone(taken, tx)
        : // An upload's request also has its stored file, beside its schema's fields; see below.
          await endpoint.write(taken as Taken & Request<unknown, KeptFile>, tx)
    // If-Match is checked only now, because the operation has just found and locked the record; a
    // refusal rolls the write back.
    taken.condition?.(written)
    return written
  }
}

/** Throws at start if a write neither declares an event nor has one by its method and path. */
export function eventOf({ operation, event = usualEvent(operation) }: WriteEndpoint) {
  if (event !== undefined) return event
  throw new Error(`${operation} declares no event: see platform/event-types.ts, or say null.`)
}

const writeOf = ({ actor, id }: FastifyRequest, { operation, resource }: WriteEndpoint) => ({
  userID: actor?.userID ?? null,
  username: actor?.username ?? null,
  operation,
  resource,
  requestID: id,
})

/**
 * Receives the file of a request first, and stores it only when the rest of the request is valid.
 */
function uploadHandler(endpoint: UploadEndpoint, take: Take, options: HandlerOptions): Handler {
  const { body, upload } = endpoint
  const readBody = bodyReader(body, endpoint.data)
  const perform = performer(endpoint, options)
  const arrive = async (request: FastifyRequest, reply: FastifyReply, taken: Taken) => {
    const { body: given, file } = await receive(request, body, upload)
    try {
      // A missing file is refused here where the schema requires it.
      const { body: read, ignored } = readBody(given)
      const { content, ...told } = read as { content?: string }
      const whole = { ...taken, ignored, body: told }
      await endpoint.check(whole, shareOf(taken, options))
      if (content === undefined || !file) return await perform(request, reply, whole)
      return await upload.keep(file, told, (kept) =>
        perform(request, reply, { ...whole, body: { ...told, ...kept } }),
      )
    } finally {
      await file?.discard()
    }
  }
  return async (request, reply) => {
    const taken = take(request)
    const bytes = Number(request.headers['content-length'] ?? upload.maxBytes)
    return arriving(() => arrive(request, reply, taken), taken, bytes)
  }
}

/**
 * The most bytes of files arriving at once, of all callers; half of it is kept free for callers
 * with nothing under way.
 */
const mostArriving = 256 * 2 ** 20
const arriving = turns({
  most: mostArriving,
  spare: mostArriving / 2,
  longestQueue: 100,
  longestShare: 20,
  full: 'Too many files are arriving at this moment; try again shortly.',
})
