import type { IncomingMessage } from 'node:http'

/** How much of a refused body goes by unread, and for how long. */
const mostBytes = 64 * 2 ** 20
const longest = 10_000

/**
 * The rest of a body that is refused while it arrives goes by unread: some clients read an answer
 * only when they have sent everything, and a connection that is cut meanwhile takes it from them.
 * Who sends on and on is cut off all the same.
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
  // Not at once: who has just stopped reading is still about to pause it.
  setImmediate(() => body.resume())
}

/** Bodies on their way past already: who reads one and who answers may both refuse it. */
const passing = new WeakSet<IncomingMessage>()
