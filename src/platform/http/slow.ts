import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Server as SecureServer } from 'node:tls'
import type { FastifyRequest } from 'fastify'

/**
 * Bodies with files may take long if they keep moving: at least this many bytes per interval (in
 * milliseconds).
 */
const interval = 20_000
const leastBytes = 20_000

const timeout = 'ERR_HTTP_REQUEST_TIMEOUT'
const arriving = new WeakSet<Socket>()

/**
 * Whether an error is Node's time limit for a whole request, on an upload with its own time limit.
 */
export const hasItsOwnTime = (error: { code?: string }, socket: Socket) =>
  error.code === timeout && arriving.has(socket)

/**
 * Reads a body with a file; a body that stops moving is answered with 408 and its connection
 * closed.
 */
export async function atItsPace<T>({ raw, server }: FastifyRequest, read: () => Promise<T>) {
  const { socket } = raw
  let seen = socket.bytesRead
  arriving.add(socket)
  const timer = setInterval(() => {
    const moved = socket.bytesRead - seen
    seen = socket.bytesRead
    if (moved >= leastBytes || raw.complete) return
    arriving.delete(socket)
    const error = Object.assign(new Error('The file stopped arriving.'), { code: timeout })
    server.server.emit('clientError', error, socket)
  }, interval)
  try {
    return await read()
  } finally {
    clearInterval(timer)
    arriving.delete(socket)
  }
}

/**
 * How long a client may leave an answer untouched before Node looks, twice, whether any of it was
 * taken; and how often we look for such clients. Both in milliseconds.
 */
const stall = 60_000
const glance = 5_000

/**
 * Disconnects clients that have stopped reading their answer: it would stay in memory, or hold a
 * file or a database connection. Clients that read are not affected.
 */
export function dropStalledReaders(server: Server) {
  const sockets = new Set<Socket>()
  // Over TLS the encrypted socket holds what is not sent yet; the socket below it shows nothing.
  const event = server instanceof SecureServer ? 'secureConnection' : 'connection'
  server.on(event, (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const timer = setInterval(() => {
    // Node restarts this timeout whenever data is sent, and clears it when the answer ends.
    for (const socket of sockets)
      if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(stall)
  }, glance).unref()
  server.on('close', () => clearInterval(timer))
}
