import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { invalid, Refusal } from '../refusal.ts'
import { type JsonLimits, parseJson, parseLongJson } from '../shape/json.ts'
import { listsIn } from '../shape/keywords.ts'
import { callerOf } from './caller.ts'
import { turns } from './turns.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    lists?: JsonLimits
  }
}

/** Bodies up to this many bytes never wait. Only lists of records may be longer. */
export const shortBody = 65_536

/** The limits of a body by its schema: its bytes, and the items of its lists. */
export function limitsOf(schema: TSchema | undefined, maxBodyBytes: number) {
  const { mostItems, ofRecords } = listsIn(schema ?? {})
  return { bodyLimit: ofRecords ? maxBodyBytes : Math.min(maxBodyBytes, shortBody), mostItems }
}

/** The most bytes of long bodies in memory at once; parsed, they take ten times as much. */
const mostBytes = 32 * 2 ** 20

/**
 * Reads JSON bodies. A long body waits until there is room for it in memory, and is then parsed
 * piece by piece, one body at a time, callers in turn, while other requests go on.
 */
export function readJsonBodies(app: FastifyInstance) {
  const inMemory = turns({
    most: mostBytes,
    longestQueue: 200,
    full: 'Too many long bodies are arriving at this moment; try again shortly.',
  })
  const inTurn = turns({
    most: 1,
    longestQueue: 200,
    full: 'Too many long bodies are being read at this moment; try again shortly.',
  })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  app.addHook('preParsing', (request, reply, payload, done) => {
    const bytes = bytesOf(request)
    if (bytes <= shortBody) return done(null, payload)
    const over = new Promise<void>((end) => reply.raw.once('close', () => end()))
    const hold = () => {
      done(null, payload)
      return over
    }
    inMemory(hold, { caller: callerOf(request) }, bytes).catch(done)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      if (request.headers['content-encoding'] !== undefined) throw encodedBody()
      const text = decodeWith(decoder, body)
      const { lists = {} } = request.routeOptions.config
      if (body.length <= shortBody) return parseJson(text, lists)
      return inTurn(() => parseLongJson(text, lists), { caller: callerOf(request) })
    },
  )
}

/** A body without a stated length counts as the longest that the operation accepts. */
function bytesOf({ headers, routeOptions }: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': chunked } = headers
  if (length !== undefined) return Math.min(Number(length), routeOptions.bodyLimit ?? mostBytes)
  return chunked === undefined ? 0 : (routeOptions.bodyLimit ?? mostBytes)
}

const encodedBody = () =>
  new Refusal(415, [
    { code: 'not_json', message: 'The body must be plain JSON, without a Content-Encoding.' },
  ])

function decodeWith(decoder: TextDecoder, body: Buffer): string {
  try {
    return decoder.decode(body)
  } catch {
    throw invalid('malformed_json', 'The body is not valid UTF-8.')
  }
}
