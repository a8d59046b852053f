import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { ByteClient, bytesColumn, recordsColumn } from '../../src/platform/sql/bytes.ts'
import { types } from '../../src/platform/sql/pool.ts'
import { freshDatabase } from '../support/database.ts'

/** A socket that passes data on in pieces of these lengths, in turns. */
function inPieces(lengths: readonly number[]): Socket {
  const socket = new Socket()
  const emit = socket.emit.bind(socket)
  let turn = 0
  socket.emit = (event: string, ...told: unknown[]) => {
    const [chunk] = told
    if (event !== 'data' || !Buffer.isBuffer(chunk)) return emit(event, ...told)
    for (let at = 0; at < chunk.length; ) {
      const length = lengths[turn++ % lengths.length]!
      emit('data', chunk.subarray(at, at + length))
      at += length
    }
    return true
  }
  return socket
}

const rows = (json: string, count: number) => `
  select n, ${json} as ${bytesColumn}, case when n % 2 = 0 then 'ä' || n end as text
  from generate_series(1, ${count}) n`
const statements = [
  rows(`json_build_object('n', n, 'text', repeat('aß€😀', n))`, 40),
  rows(`null::json`, 2),
  rows(`json_build_object('long', repeat('x', 100000))`, 2),
  rows(`'{}'::json`, 0),
  `select n, repeat('é', n) as text from generate_series(1, 30) n`,
  'select 1 / 0',
  'set local lock_timeout = 1000',
]

/** The answers of all SQL statements, each run twice: newly prepared, and already prepared. */
async function answersOf(client: pg.Client) {
  const answers: unknown[] = []
  for (const [i, text] of [...statements, ...statements].entries()) {
    const asked = client.query({ text, name: `s${i % statements.length}`, types })
    answers.push(await asked.then(({ rows }) => rows.map(readable)).catch((e) => e.message))
  }
  return answers
}

const readable = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).map(([k, v]) => [k, v instanceof Buffer ? `${v}` : v]))

describe('rows with a column of bytes', () => {
  it('are what they would be without, in whatever pieces they arrive', async () => {
    const connection = await freshDatabase()
    const plain = new pg.Client(connection)
    await plain.connect()
    const expected = await answersOf(plain).finally(() => plain.end())
    const piece = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 70_000 }))
    const lengths = fc.array(piece, { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(lengths, async (each) => {
        // One byte at a time a page would take minutes; every place of a message is cut as it is.
        const stream = () => inPieces([...each, 1500, 65_536])
        const client = new ByteClient({ ...connection, stream })
        await client.connect()
        assert.deepEqual(await answersOf(client).finally(() => client.end()), expected)
      }),
      { numRuns: 25, examples: [[[1]], [[4, 1]], [[70_000]]] },
    )
  })

  it('come as the bytes that PostgreSQL sent', async () => {
    const client = new ByteClient(await freshDatabase())
    await client.connect()
    const asked = client.query({ text: `select '["€"]'::json as ${bytesColumn}`, types })
    const { rows } = await asked.finally(() => client.end())
    assert.deepEqual(rows, [{ [bytesColumn]: Buffer.from('["€"]') }])
  })

  it('and records of one column come as the array they make, however they arrive', async () => {
    const connection = await freshDatabase()
    const records = (count: number, length: number) => ({
      text: `select json_build_object('n', n, 'text', repeat('aß€😀', $1::int)) as ${recordsColumn}
        from generate_series(1, $2::int) n where 1 / (n - 70) < 1`,
      name: 'records',
      values: [length, count],
      types,
    })
    const lengths = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(lengths, async (each) => {
        const client = new ByteClient({ ...connection, stream: () => inPieces([...each, 1500]) })
        await client.connect()
        const told = async (count: number, length: number) => {
          const { rows } = await client.query(records(count, length))
          assert.equal(rows.length, 1)
          const { bytes, count: told, last } = rows[0]![recordsColumn]
          const read = JSON.parse(String(bytes))
          assert.equal(told, count)
          assert.deepEqual(last && JSON.parse(last), read.at(-1))
          return read
        }
        assert.deepEqual(await told(0, 1), [])
        const found = await told(69, 300)
        assert.deepEqual(found[68], { n: 69, text: 'aß€😀'.repeat(300) })
        // Some rows had come, and none of them is told to whoever asks next.
        await assert.rejects(told(80, 300), /division by zero/)
        assert.deepEqual((await client.query('set local lock_timeout = 1000')).rows, [])
        assert.deepEqual(await told(1, 1), [{ n: 1, text: 'aß€😀' }])
        await client.end()
      }),
      { numRuns: 25, examples: [[[1]], [[4, 1]], [[70_000]]] },
    )
  })
})
