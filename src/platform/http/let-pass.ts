import type { IncomingMessage } from 'node:http'

/**
 * How much of a refused body is read and discarded, in bytes, and for how long, in milliseconds.
 */
const mostBytes = 64 * 2 ** 20
const longest = 10_000

/**
 * Discards the rest of a body that was refused while it arrives. Some clients read an answer only
 * when they have sent everything; cutting the connection before would lose the answer. A client
 * that keeps sending beyond the limits is cut off all the same.
 */
export function letPass(body: IncomingMessage) {
  if (body.complete || body.readableEnded || passing.has(body)) return
  passing.add(body)
  const { socket } = body
  const start = socket.bytesRead
  const cutOff = () => void socket.destroy()
  const timer = setTimeout(cutOff, longest).unref()
  const count = () => socket.bytesRead - start > mostBytes && cutOff()
  body.on('data', count)
  body.once('close', () => clearTimeout(timer))
  body.once('end', () => clearTimeout(timer))
  // Not at once: the reader that has just stopped is still about to pause the body.
  setImmediate(() => body.resume())
}

/** Bodies that are being discarded already: the reader and the answer may both refuse one body. */
const passing = new WeakSet<IncomingMessage>()
