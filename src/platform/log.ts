import { type DestinationStream, pino } from 'pino'

/** Secrets that are no field of a record: those of requests themselves, and of the database. */
const ownSecrets = ['authorization', 'accessToken', 'connectionString']

/**
 * To the standard output, some lines at a time: to write each by itself took a tenth of what a
 * request costs, and so does the library's own way to gather them, which measures all it has at
 * every line. What a killed process leaves unsaid is at most as old as `longestUnsaid`.
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
  // Where its disk is full the log waits for room, and then loses lines; the service goes on. At
  // the end of the process the library would try for ever.
  output.on('error', () => {
    output.flushSync = () => {}
  })
  output.on('write', () => {
    output.flushSync = sayAll
  })
  return output
}

/** Characters that are written at once. */
const bundle = 4096
/** In milliseconds. */
const longestUnsaid = 100
/** Bytes that wait to be written at most. */
const mostUnsaid = 2 ** 20

/** The moment of a line. Many are of one millisecond, whose text is made once. */
function momentTeller() {
  let [last, text] = [Number.NaN, '']
  return () => {
    const now = Date.now()
    if (now !== last) [last, text] = [now, `,"time":"${new Date(now).toISOString()}"`]
    return text
  }
}

type Options = {
  /** The names of fields that are never in a log, whoever puts them there. */
  secrets?: Iterable<string>
  destination?: DestinationStream
}

/** What we log on purpose holds no secrets; these are blotted out all the same. */
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
 * An error for the log. PostgreSQL's detail and parameters quote the row, so they stay out; so do
 * its words about a value that it could not read (class 22) or that somebody's trigger refused.
 */
export function errorForLog(error: unknown) {
  if (!(error instanceof Error)) return undefined
  const { name, message, stack, code, constraint, table } = error as Error & Record<string, unknown>
  if (!/^(22...|P0001)$/.test(String(code)))
    return { type: name, message, stack, code, constraint, table }
  const told = 'PostgreSQL refused a value; its words are left out, as they may quote it'
  return { type: name, message: told, stack: stack?.replace(message, told), code, table }
}
