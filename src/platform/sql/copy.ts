import type pg from 'pg'

/**
 * PostgreSQL's COPY through the pg driver: whole tables as text, in pieces of bounded size,
 * whatever their number of rows. The SQL texts come from code, never from a request.
 */

/** Small rows are gathered up to this size before they are handed on. */
const pieceBytes = 65_536

type Connection = pg.Connection & {
  sendCopyFromChunk: (piece: Buffer) => void
  endCopyFrom: () => void
  sendCopyFail: (message: string) => void
}

/** What the driver calls while it runs an SQL statement. */
type Copying = pg.Submittable & {
  handleError: (error: Error) => void
  handleCommandComplete: (message: { text: string }) => void
  handleReadyForQuery: (connection: Connection) => void
  handleCopyData?: (message: { chunk: Buffer }, connection: Connection) => void
  handleCopyInResponse?: (connection: Connection) => void
}

const submit = (client: pg.Client, copying: Copying) => void client.query(copying)

/** `COPY 12` */
const countIn = (text: string) => Number(text.split(' ')[1])

/**
 * Runs `copy … to stdout`; resolves to the number of rows. Reading pauses while `take` handles a
 * piece. If `take` fails, the connection is unusable: the caller must end it.
 */
export function copyOut(
  client: pg.Client,
  text: string,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let gathered: Buffer[] = []
    let bytes = 0
    let rows = 0
    let taken = Promise.resolve()
    const hand = ({ stream }: Connection) => {
      const piece = Buffer.concat(gathered)
      gathered = []
      bytes = 0
      stream.pause()
      taken = taken.then(() => take(piece)).then(() => void stream.resume())
      taken.catch(reject)
    }
    submit(client, {
      submit: (connection) => connection.query(text),
      handleCopyData: ({ chunk }, connection) => {
        gathered.push(Buffer.from(chunk)) // the driver reuses its buffer
        bytes += chunk.length
        if (bytes >= pieceBytes) hand(connection)
      },
      handleCommandComplete: (message) => {
        rows = countIn(message.text)
      },
      handleReadyForQuery: (connection) => {
        if (bytes > 0) hand(connection)
        taken.then(() => resolve(rows), reject)
      },
      handleError: reject,
    })
  })
}

/** Runs `copy … from stdin` with the pieces of a source; resolves to the number of rows. */
export function copyIn(
  client: pg.Client,
  text: string,
  source: AsyncIterable<Buffer>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let rows = 0
    let isOver = false
    let failure: unknown
    const send = async (connection: Connection) => {
      for await (const piece of source) {
        if (isOver) return
        connection.sendCopyFromChunk(piece)
        if (connection.stream.writableNeedDrain) await drained(connection.stream)
      }
      if (!isOver) connection.endCopyFrom()
    }
    submit(client, {
      submit: (connection) => connection.query(text),
      handleCopyInResponse: (connection) =>
        void send(connection).catch((error) => {
          failure = error
          connection.sendCopyFail('what was to be copied cannot be read')
        }),
      handleCommandComplete: (message) => {
        rows = countIn(message.text)
      },
      handleReadyForQuery: () => resolve(rows),
      handleError: (error) => {
        isOver = true
        reject(failure ?? error)
      },
    })
  })
}

/** Resolves when the stream drains or closes; the SQL statement itself reports a closed stream. */
const drained = (stream: pg.Connection['stream']) =>
  new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.once('drain', done)
    stream.once('close', done)
  })
