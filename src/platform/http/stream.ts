import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import sql from 'sql-template-tag'
import type { Database, Fragment, Sql } from '../sql/handle.ts'
import type { Answer } from '../sql/render.ts'
import { successBody } from './envelope.ts'
import { answerSuccess } from './server.ts'
import { turns, type Whose } from './turns.ts'

type Rows = { json: string }[]

type Reading = {
  database: Database
  select: Fragment
  /** The handle for the first rows, which count in the caller's share. */
  handle: Sql
  /** Sets the headers that depend on the answer's content, for short answers. */
  label: (answer: Answer) => void
}

/** The rows fetched at a time: all that one answer holds in memory, however long it is. */
const atOnce = 500

/**
 * The queue of long answers. Each holds a connection for as long as its client takes to read it, so
 * slow clients must not take all connections, nor one caller all places.
 */
const inTurn = turns({
  most: 3,
  spare: 1,
  longestQueue: 50,
  full: 'Too many long answers are being read at this moment; try again shortly.',
})

/**
 * Answers with all rows of a select. Up to `atOnce` rows are sent like any other read. More rows
 * are streamed: PostgreSQL is asked for the next ones when the client has taken the last ones. An
 * error in the middle breaks the connection, so that half an answer never looks complete.
 */
export async function answerRows(
  reply: FastifyReply,
  { database, select, handle, label }: Reading,
  whose: Whose,
): Promise<FastifyReply> {
  const rows = await handle.query<{ json: string }>(
    sql`select to_json(r)::text as json from (${select} limit ${atOnce + 1}) r`,
  )
  if (rows.length > atOnce) return answerLong(reply, database, select, whose)
  const answer = { json: `[${listed(rows)}]`, recordCount: rows.length }
  label(answer)
  return answerSuccess(reply, successBody(answer))
}

const answerLong = (reply: FastifyReply, database: Database, select: Fragment, whose: Whose) =>
  new Promise<FastifyReply>((resolve, reject) => {
    const over = new Promise<void>((end) => reply.raw.once('close', () => end()))
    inTurn(async () => {
      if (reply.raw.destroyed) return
      resolve(await sendLong(reply, database, select))
      await over
    }, whose).catch(reject)
  })

async function sendLong(reply: FastifyReply, database: Database, select: Fragment) {
  const batches = database.stream<{ json: string }>(
    sql`select to_json(r)::text as json from (${select}) r`,
    atOnce,
  )
  // However the answer ends, even if the client hangs up, the cursor and its connection are
  // released.
  reply.raw.once('close', () => void batches.return(undefined))
  // An error before the first row can still be answered with an envelope.
  const first = await batches.next()
  const body = envelopeAround(first.done ? [] : first.value, batches)
  return answerSuccess(reply, Readable.from(body, { highWaterMark: 1 }))
}

/** recordCount follows the data because it is known only then; JSON gives members no order. */
async function* envelopeAround(first: Rows, rest: AsyncIterable<Rows>) {
  let count = first.length
  yield `{"result":true,"message":null,"data":[${listed(first)}`
  for await (const rows of rest) {
    count += rows.length
    yield `,${listed(rows)}`
  }
  yield `],"recordCount":${count}}`
}

const listed = (rows: Rows) => rows.map(({ json }) => json).join(',')
