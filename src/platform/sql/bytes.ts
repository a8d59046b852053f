import { EventEmitter } from 'node:events'
import pg from 'pg'

/**
 * The name of the result column whose values stay a Buffer of UTF-8 bytes. It must be of type json
 * or text. A page of 1000 entities has four megabytes; decoding it to a string and encoding it
 * again for the caller would keep all other requests waiting.
 */
export const bytesColumn = 'json_bytes'

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

/**
 * A message that is arriving: how many bytes are missing, its letter, and the buffer for a row that
 * we parse ourselves.
 */
type Arriving = { ahead: number; kind: number | undefined; row?: Buffer }

/**
 * Receives the bytes of the socket. All messages go on to pg's parser as they came, many at a time,
 * except rows with a bytes column. Whether rows have one is known once the parser has reported the
 * row description.
 */
function rowTaker(connection: EventEmitter, parser: EventEmitter) {
  let isBytes: readonly boolean[] | undefined
  connection.on('rowDescription', ({ fields }: { fields: readonly { name: string }[] }) => {
    const named = fields.map(({ name }) => name === bytesColumn)
    isBytes = named.includes(true) ? named : undefined
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
    const { row } = message
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
      if (message.row) passed = at
      if (message.ahead > 0 || chunk.length - at < headerLength) break
      if (message.kind === rowDescription) {
        passOn(chunk.subarray(passed, at))
        passed = at
      }
      const [kind, ahead] = [chunk[at], chunk.readUInt32BE(at + 1) - 4]
      const isOurs = isBytes !== undefined && kind === dataRow
      if (isOurs) passOn(chunk.subarray(passed, at))
      message = { kind, ahead, ...(isOurs && { row: Buffer.allocUnsafe(ahead) }) }
      at += headerLength
    }
    passOn(chunk.subarray(passed, at))
    cut = chunk.subarray(at)
  }
}

/** The content of a row as pg's parser would report it, except that bytes columns stay Buffers. */
function rowOf(content: Buffer, isBytes: readonly boolean[]) {
  let at = 2 // behind the 2 bytes with the number of columns
  const fields = isBytes.map((stays) => {
    const length = content.readInt32BE(at)
    const start = at + 4
    at = start + Math.max(length, 0)
    if (length < 0) return null
    return stays ? content.subarray(start, at) : content.toString('utf8', start, at)
  })
  return { name: 'dataRow', length: content.length, fields }
}
