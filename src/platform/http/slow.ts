import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Bodies with files may take long, as long as they move: at least this much in every interval. */
const interval = 20_000
const leastBytes = 20_000

const timeout = 'ERR_HTTP_REQUEST_TIMEOUT'
const arriving = new WeakSet<Socket>()

/** Whether this is Node's limit for a whole request, on a request that has one of its own. */
export const hasItsOwnTime = (error: { code?: string }, socket: Socket) =>
  error.code === timeout && arriving.has(socket)

/** Reads a body that has a file in it; one that stops moving is answered with 408 and let go. */
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

/** How long an answer may wait for its reader to take any of it. */
const stall = 60_000
const glance = 5_000

/**
 * Lets go of readers who have stopped taking their answer: it would stay in memory, or hold a
 * file or a connection of the database. Costs nothing to those who read.
 */
export function dropStalledReaders(server: Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const timer = setInterval(() => {
    // Node starts the time anew whenever something goes out, and ends it with the answer.
    for (const socket of sockets)
      if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(stall)
  }, glance).unref()
  server.on('close', () => clearInterval(timer))
}
