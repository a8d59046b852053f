import { EventEmitter } from 'node:events'
import pg from 'pg'

/**
 * The name of the result column whose values stay a Buffer of UTF-8 bytes. It must be of type json
 * or text. A page of 1000 entities has four megabytes; decoding it to a string and encoding it
 * again for the caller would keep all other requests waiting.
 */
export const bytesColumn = 'json_bytes'

/**
 * The name of the only column of a select whose rows each hold one record of JSON. The client puts
 * all rows together into one value, `Records`. PostgreSQL would spend a seventh of the time of a
 * page on that, because it copies the whole page four times; here it costs next to nothing.
 */
export const recordsColumn = 'json_records'

/** The records as bytes of a JSON array, as json_agg writes it; and the text of the last one. */
export type Records = { bytes: Buffer; count: number; last: string | undefined }

/** A pg client that reads rows with such a column itself, past pg's own parser. */
export class ByteClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // pg calls attachListeners once, with the plain or the TLS socket; its types leave it out.
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

/** A message of the PostgreSQL protocol: a letter, the length without the letter, the content. */
const headerLength = 5
const rowDescription = 'T'.charCodeAt(0)
const dataRow = 'D'.charCodeAt(0)
const commandComplete = 'C'.charCodeAt(0)
const errorResponse = 'E'.charCodeAt(0)
/** The bytes of a row of one column before its value: the number of columns and the length. */
const beforeValue = 6

/**
 * A message that is arriving: how many bytes are missing, its letter, the buffer for a row that we
 * parse ourselves, and whether it is a row with one record.
 */
type Arriving = { ahead: number; kind: number | undefined; row?: Buffer; isRecord?: boolean }

/**
 * Receives the bytes of the socket. All messages go on to pg's parser as they came, many at a time,
 * except rows with a bytes column. Whether rows have one is known once the parser has reported the
 * row description.
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
  let cut: Buffer = Buffer.alloc(0) // the cut-off beginning of a header

  const passOn = (bytes: Buffer) => {
    if (bytes.length > 0) parser.emit('data', bytes)
  }
  /**
   * Consumes the part of a chunk that belongs to the present message; returns where the next
   * begins.
   */
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

/** The content of a row as pg's parser would report it, except that bytes columns stay Buffers. */
function rowOf(content: Buffer, isBytes: readonly boolean[]) {
  let at = 2 // after the 2 bytes with the number of columns
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
  /** Announces a row of so many bytes. */
  begin(length: number): void
  /** Takes the next bytes of the announced row. */
  take(chunk: Buffer, start: number, end: number): void
  end(): Records
}

/** Joins the values of one-column rows into the text of a JSON array as they arrive. */
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
