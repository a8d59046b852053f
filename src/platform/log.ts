import { type DestinationStream, pino } from 'pino'

/** Names of secrets that are no field of a record: of requests, and of the database. */
const ownSecrets = ['authorization', 'accessToken', 'connectionString']

/**
 * Writes to the standard output, several lines at a time. Writing each line by itself took a tenth
 * of a request's cost, and so did the library's own buffering, which measures the whole buffer at
 * every line. A killed process loses at most the lines of the last `longestUnsaid` milliseconds.
 */
function standardOutput() {
  const output = pino.destination({ sync: false, maxLength: mostUnsaid })
  const { write, flush, flushSync } = output
  let lines = ''
  const passOn = () => {
    if (lines) write.call(output, lines)
    lines = ''
  }
  output.write = (line) => {
    lines += line
    if (lines.length >= bundle) passOn()
    return true
  }
  output.flush = (told) => {
    passOn()
    flush.call(output, told)
  }
  const sayAll = () => {
    passOn()
    flushSync.call(output)
  }
  output.flushSync = sayAll
  setInterval(passOn, longestUnsaid).unref()
  // When the disk is full, the log waits for room and eventually drops lines; the service goes on.
  // Without this the library would retry for ever when the process ends.
  output.on('error', () => {
    output.flushSync = () => {}
  })
  output.on('write', () => {
    output.flushSync = sayAll
  })
  return output
}

/** The number of buffered characters that triggers a write. */
const bundle = 4096
/** In milliseconds. */
const longestUnsaid = 100
/** The most bytes that wait to be written. */
const mostUnsaid = 2 ** 20

/** The time of a log line. Many lines share a millisecond, so its text is made once. */
function momentTeller() {
  let [last, text] = [Number.NaN, '']
  return () => {
    const now = Date.now()
    if (now !== last) [last, text] = [now, `,"time":"${new Date(now).toISOString()}"`]
    return text
  }
}

type Options = {
  /** The names of fields that must never appear in a log, whoever logs them. */
  secrets?: Iterable<string>
  destination?: DestinationStream
}

/** Our own log calls contain no secrets; as a safeguard, these fields are redacted all the same. */
export const createLog = (
  level: string,
  { secrets = [], destination = standardOutput() }: Options = {},
) =>
  pino(
    {
      level,
      base: null,
      timestamp: momentTeller(),
      redact: [...ownSecrets, ...secrets].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    },
    destination,
  )

export type Log = ReturnType<typeof createLog>

/**
 * An error for the log. PostgreSQL's detail and parameters quote the row, so they stay out. So does
 * the message about a value that PostgreSQL could not read (class 22) or that a trigger refused.
 */
export function errorForLog(error: unknown) {
  if (!(error instanceof Error)) return undefined
  const { name, message, stack, code, constraint, table } = error as Error & Record<string, unknown>
  if (!/^(22...|P0001)$/.test(String(code)))
    return { type: name, message, stack, code, constraint, table }
  const told = 'PostgreSQL refused a value; its words are left out, as they may quote it'
  return { type: name, message: told, stack: stack?.replace(message, told), code, table }
}
