import { createHmac } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { allowedAddress, type Resolve } from './address.ts'

export type Message = {
  id: string
  url: string
  body: string
  secrets: readonly string[]
  /** The value of the header webhook-timestamp, in seconds since 1970. */
  time: number
}
export type Sent = { status: number }

export type SendOptions = { allowLocal: boolean; resolve: Resolve; patience?: number }

/** Milliseconds for a whole call, and the most bytes of the answer that are read. */
const defaultPatience = 10_000
const mostBytes = 65_536

/** Sends a message by the Standard Webhooks contract; follows no redirect. */
export async function send(message: Message, options: SendOptions): Promise<Sent> {
  const { allowLocal, resolve, patience = defaultPatience } = options
  const signal = AbortSignal.timeout(patience)
  const url = new URL(message.url)
  const { address, family } = await untilAborted(allowedAddress(url, allowLocal, resolve), signal)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((done, fail) => {
    const call = request(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: headersOf(message),
      // Connect to the address that was checked, whatever the name resolves to by now.
      lookup: (_host, { all }, found) =>
        all ? found(null, [{ address, family }]) : found(null, address, family),
    })
    call.on('error', fail)
    // Without a listener for upgrades, Node ends such a call and emits no event.
    call.on('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy()
      done({ status: statusCode })
    })
    call.on('response', (response) => {
      let bytes = 0
      const end = () => {
        response.destroy()
        done({ status: response.statusCode ?? 0 })
      }
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > mostBytes) end()
      })
      response.on('end', end)
      response.on('error', fail)
    })
    call.end(message.body)
  })
}

const untilAborted = <T>(work: Promise<T>, signal: AbortSignal) =>
  new Promise<T>((done, fail) => {
    signal.addEventListener('abort', () => fail(signal.reason), { once: true })
    work.then(done, fail)
  })

/** Signs the message with every secret that is valid at this moment. */
function headersOf({ id, body, secrets, time }: Message) {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`
  })
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'registry-platform',
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': signatures.join(' '),
  }
}
