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
  /** For the first rows, in the caller's share. */
  handle: Sql
  /** Sets the headers that go by what is answered, where that is short. */
  label: (answer: Answer) => void
}

/** Rows fetched at a time: what one answer holds in memory, however long it is. */
const atOnce = 500

/**
 * A long answer holds a connection for as long as its reader takes. Readers may be slow, so that a
 * few of them must not take the connections of everybody, nor one caller all that there are.
 */
const inTurn = turns({
  most: 3,
  spare: 1,
  longestQueue: 50,
  full: 'Too many long answers are being read at this moment; try again shortly.',
})

/**
 * Answers with all rows of a select. Few of them go out like any other read. Many go out as they
 * come: PostgreSQL is asked for more when the client has taken the last ones. An error in the
 * middle breaks the connection off: half an answer never looks like a whole one.
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
  // However the answer ends, also when the client hangs up, the cursor and its connection go back.
  reply.raw.once('close', () => void batches.return(undefined))
  // What fails before the first row can still be told in an envelope.
  const first = await batches.next()
  const body = envelopeAround(first.done ? [] : first.value, batches)
  return answerSuccess(reply, Readable.from(body, { highWaterMark: 1 }))
}

/** recordCount comes after the data: only then is it known, and JSON gives members no order. */
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
