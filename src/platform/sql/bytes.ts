import { EventEmitter } from 'node:events'
import pg from 'pg'

/**
 * The column of a select whose values are given as the bytes that came: a Buffer of UTF-8. It must
 * be of type json or text. A page of 1000 entities has four megabytes; to make a text of them, and
 * of the text bytes again for the caller, would keep everybody else waiting.
 */
export const bytesColumn = 'json_bytes'

/**
 * The column of a select that has no other, of a record of JSON in each row. All of its rows are
 * given as one, of which this is the value: to put them together takes PostgreSQL a seventh of what
 * it does for a page, since it copies the whole of it four times, and here next to nothing.
 */
export const recordsColumn = 'json_records'

/** Such records as the bytes of an array, as json_agg writes it; and the last of them. */
export type Records = { bytes: Buffer; count: number; last: string | undefined }

/** A client that takes rows with such columns out of what goes to pg's own parser. */
export class ByteClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // pg calls this once, with the socket or with what decrypts it; its types leave it out.
    const connection = this.connection as pg.Connection & {
      attachListeners(stream: EventEmitter): void
    }
    const attach = connection.attachListeners.bind(connection)
    connection.attachListeners = (stream) => {
      const parser = new EventEmitter()
      attach(parser)
      const take = rowTaker(connection, parser)
      stream.on('data', take)
      stream.on('end', () => parser.emit('end'))
    }
  }
}

/** A message of PostgreSQL's is a letter, the length without the letter, and its content. */
const headerLength = 5
const rowDescription = 'T'.charCodeAt(0)
const dataRow = 'D'.charCodeAt(0)
const commandComplete = 'C'.charCodeAt(0)
const errorResponse = 'E'.charCodeAt(0)
/** Before the value of a row of one column: how many there are, and how long it is. */
const beforeValue = 6

/** A message of which some has arrived: how much is to come, and where a row of ours is put. */
type Arriving = { ahead: number; kind: number | undefined; row?: Buffer; isRecord?: boolean }

/**
 * Takes what arrives. Messages go on to the parser as they came, many at a time, but for the rows
 * of ours; whether these are, is known as soon as the parser has told of the description.
 */
function rowTaker(connection: EventEmitter, parser: EventEmitter) {
  let isBytes: readonly boolean[] | undefined
  let records: Gathering | undefined
  connection.on('rowDescription', ({ fields }: { fields: readonly { name: string }[] }) => {
    const named = fields.map(({ name }) => name === bytesColumn)
    isBytes = named.includes(true) ? named : undefined
    records = fields.length === 1 && fields[0]?.name === recordsColumn ? gathering() : undefined
  })
  let message: Arriving = { ahead: 0, kind: undefined }
  let cut: Buffer = Buffer.alloc(0) // the beginning of a header

  const passOn = (bytes: Buffer) => {
    if (bytes.length > 0) parser.emit('data', bytes)
  }
  /** What of a chunk belongs to the message; gives back where the next one begins. */
  const goThrough = (chunk: Buffer, start: number): number => {
    if (message.ahead === 0) return start
    const end = Math.min(start + message.ahead, chunk.length)
    const { row, isRecord } = message
    if (isRecord) records?.take(chunk, start, end)
    if (row) chunk.copy(row, row.length - message.ahead, start, end)
    message.ahead -= end - start
    if (row && isBytes && message.ahead === 0) connection.emit('dataRow', rowOf(row, isBytes))
    return end
  }

  return (arrived: Buffer) => {
    const chunk = cut.length > 0 ? Buffer.concat([cut, arrived]) : arrived
    let [passed, at] = [0, 0]
    for (;;) {
      at = goThrough(chunk, at)
      if (message.row || message.isRecord) passed = at
      if (message.ahead > 0 || chunk.length - at < headerLength) break
      if (message.kind === rowDescription) {
        passOn(chunk.subarray(passed, at))
        passed = at
      }
      const [kind, ahead] = [chunk[at], chunk.readUInt32BE(at + 1) - 4]
      const isOurs = kind === dataRow && (isBytes ?? records) !== undefined
      if (isOurs) passOn(chunk.subarray(passed, at))
      if (records && kind === dataRow) {
        records.begin(ahead)
        message = { kind, ahead, isRecord: true }
      } else message = { kind, ahead, ...(isOurs && { row: Buffer.allocUnsafe(ahead) }) }
      if (records && kind === commandComplete) {
        connection.emit('dataRow', { name: 'dataRow', length: 0, fields: [records.end()] })
      }
      if (kind === commandComplete || kind === errorResponse) records = undefined
      at += headerLength
    }
    passOn(chunk.subarray(passed, at))
    cut = chunk.subarray(at)
  }
}

/** The content of a row as pg's parser would give it, but for the columns that stay bytes. */
function rowOf(content: Buffer, isBytes: readonly boolean[]) {
  let at = 2 // behind the number of columns
  const fields = isBytes.map((stays) => {
    const length = content.readInt32BE(at)
    const start = at + 4
    at = start + Math.max(length, 0)
    if (length < 0) return null
    return stays ? content.subarray(start, at) : content.toString('utf8', start, at)
  })
  return { name: 'dataRow', length: content.length, fields }
}

const [opening, between, closing] = ['[', ', \n ', ']'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
]

type Gathering = {
  /** A row of so many bytes follows. */
  begin(length: number): void
  /** Bytes of it. */
  take(chunk: Buffer, start: number, end: number): void
  end(): Records
}

/** Puts the values of rows of one column behind each other, as they arrive. */
function gathering(): Gathering {
  let bytes = Buffer.allocUnsafe(4096)
  let [at, count, lastAt, before] = [0, 0, 0, 0]
  const write = (mark: Buffer) => {
    at += mark.copy(bytes, at)
  }
  return {
    begin: (length) => {
      const needed = at + length + between.length + closing.length
      if (needed > bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(needed, 2 * bytes.length))
        bytes.copy(larger, 0, 0, at)
        bytes = larger
      }
      write(count++ === 0 ? opening : between)
      lastAt = at
      before = beforeValue
    },
    take: (chunk, start, end) => {
      const from = Math.min(start + before, end)
      before -= from - start
      at += chunk.copy(bytes, at, from, end)
    },
    end: () => {
      const last = count > 0 ? bytes.toString('utf8', lastAt, at) : undefined
      if (count === 0) write(opening)
      write(closing)
      return { bytes: bytes.subarray(0, at), count, last }
    },
  }
}
