import type { Readable } from 'node:stream'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { MailSettings } from './send.ts'

/** Sends mail over one connection to the server, which is kept between letters. */
export type Mailer = {
  /** `signal` aborts when the process is about to end. */
  send: (mail: SendMailOptions, signal: AbortSignal) => Promise<Handed>
  close: () => void
}

/** The result of handing over a letter; `begun` where some of it may have reached the server. */
type Handed = { error?: MailError; begun: boolean }

type MailError = Error & { code?: string; responseCode?: number; command?: string }

type Watched = SendMailOptions & { onOpened?: (letter: Readable) => void }

/**
 * In milliseconds. A silent server is given up before `reviveSending` would report its letters as
 * lost.
 */
const timeouts = { connectionTimeout: 60_000, socketTimeout: 180_000 }
/**
 * Milliseconds for a letter as a whole, since a server that sends a little now and then is never
 * silent. At most a quarter of it is spent waiting for the letters before it.
 */
const longest = 240_000
/** Milliseconds that a letter under way still gets once the process is about to end. */
const lastMoment = 2_000

export function openMailer({ smtpUrl }: MailSettings, patience = longest): Mailer | undefined {
  if (smtpUrl === undefined) return undefined
  let transport = openTransport(smtpUrl)
  let turn: Promise<void> = Promise.resolve()
  const underway = async (mail: SendMailOptions, signal: AbortSignal, left: number) => {
    const used = transport
    let isCut = false
    const cut = () => {
      isCut = true
      transport = openTransport(smtpUrl)
      used.close({ force: true })
    }
    let late = setTimeout(cut, left)
    const hasten = () => {
      clearTimeout(late)
      late = setTimeout(cut, lastMoment)
    }
    signal.addEventListener('abort', hasten)
    const handed = await handOver(used, mail).finally(() => {
      signal.removeEventListener('abort', hasten)
      clearTimeout(late)
    })
    return handed.error && isCut ? { ...handed, error: givenUp() } : handed
  }
  const inTurn = async (before: Promise<unknown>, mail: SendMailOptions, signal: AbortSignal) => {
    const since = performance.now()
    if (!(await endsIn(before, patience / 4, signal))) return { error: noTurn(), begun: false }
    return underway(mail, signal, patience - (performance.now() - since))
  }
  // Letters go one after another, so a letter whose time is up can close the connection without
  // breaking off another letter.
  const send = (mail: SendMailOptions, signal: AbortSignal) => {
    const before = turn
    const handed = inTurn(before, mail, signal)
    // Each turn resolves to nothing: passing a value on would keep the results of all earlier
    // letters.
    turn = handed.then(() => before).then(() => {})
    return handed
  }
  return { send, close: () => transport.close() }
}

/** Whether a promise resolves within the given time and before the process is about to end. */
async function endsIn(what: Promise<unknown>, milliseconds: number, signal: AbortSignal) {
  if (signal.aborted) return false
  let giveUp = () => {}
  const given = new Promise<boolean>((resolve) => {
    giveUp = () => resolve(false)
  })
  const timer = setTimeout(giveUp, milliseconds)
  signal.addEventListener('abort', giveUp)
  const ended = await Promise.race([what.then(() => !signal.aborted), given])
  clearTimeout(timer)
  signal.removeEventListener('abort', giveUp)
  return ended
}

const ofConnection = (words: string): MailError =>
  Object.assign(new Error(words), { code: 'ECONNECTION' })
const givenUp = () => ofConnection('The mail server did not finish in time.')
const noTurn = () => ofConnection('The mail server was busy with another letter.')

function openTransport(url: string) {
  const transport = createTransport({ url, pool: true, maxConnections: 1, ...timeouts })
  // A connection error does not tell how far a letter had got, but whether its stream was read
  // does.
  transport.use('stream', ({ data, message }, done) => {
    const open = message.createReadStream.bind(message)
    message.createReadStream = (options) => {
      const letter = open(options)
      ;(data as Watched).onOpened?.(letter)
      return letter
    }
    done()
  })
  return transport
}

async function handOver(
  transport: { sendMail: (mail: Watched) => Promise<unknown> },
  mail: SendMailOptions,
): Promise<Handed> {
  let letter: Readable | undefined
  const onOpened = (opened: Readable) => {
    letter = opened
  }
  try {
    await transport.sendMail({ ...mail, onOpened })
    return { begun: true }
  } catch (error) {
    return { error: error as MailError, begun: letter?.readableDidRead ?? false }
  }
}

/**
 * The outcome for a letter. `error` is set where all the remaining letters would fail the same way,
 * `isUntried` where the server did not get to look at this letter, and `minutes` where this letter
 * alone has to wait.
 */
export type Outcome = {
  state: 'Sent' | 'Failed' | 'Queued'
  reason: string | null
  error?: Error
  isUntried?: boolean
  minutes?: number | undefined
}

/** The most attempts for a letter that the server defers. */
const mostAttempts = 5
/**
 * Minutes until the next attempt for an addressee that the server defers (greylisting), by attempt.
 */
const putOffFor = [1, 5, 15, 60]

export function outcomeOf({ error, begun }: Handed, attempts: number): Outcome {
  if (!error) return { state: 'Sent', reason: null }
  const { responseCode, command } = error
  const reason = error.message.slice(0, 500)
  if (responseCode === undefined && begun)
    return { state: 'Failed', reason: `It is not known whether it was sent: ${reason}` }
  if (!begun && isOfServer(error)) return { state: 'Queued', reason, error, isUntried: true }
  if (isForGood(error) || attempts >= mostAttempts) return { state: 'Failed', reason }
  if (command === 'RCPT TO') return { state: 'Queued', reason, minutes: putOffFor[attempts - 1] }
  return { state: 'Queued', reason, error }
}

/**
 * Whether the error concerns the server and not the letter: it cannot be reached, or refuses our
 * login or sender. Then no letter was really tried. An answer about size (452, 552) concerns the
 * letter.
 */
const isOfServer = ({ code, responseCode = 0, command = code ?? '' }: MailError) =>
  /^(ECONNECTION|CONN|EHLO|HELO|STARTTLS|AUTH|MAIL FROM)/.test(command) &&
  code !== 'EMESSAGE' &&
  ![452, 552].includes(responseCode)

const isForGood = ({ code, responseCode }: MailError) =>
  responseCode === undefined ? code === 'EMESSAGE' || code === 'EENVELOPE' : responseCode >= 500
