import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

const everyMs = 2000
/**
 * Milliseconds that an answer may take before the health check is asked, and that the health check
 * may take.
 */
const [patienceMs, mostMs] = [10_000, 15_000]

/**
 * Whether the service can be reached. While it cannot, reads and writes wait and then continue by
 * themselves; a write keeps the Idempotency-Key it was first sent with.
 */
export const useIsConnected = () =>
  useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  )

/** Records that a request did not get through, and polls the service until it answers. */
export function connectionLost() {
  if (!onlineManager.isOnline()) return
  onlineManager.setOnline(false)
  setTimeout(() => void knock(), everyMs)
}

async function knock() {
  const answer = await health()
  if (answer?.ok) onlineManager.setOnline(true)
  else setTimeout(() => void knock(), everyMs)
}

/** The answer of the health check; undefined where there is none. */
function health(): Promise<Response | undefined> {
  const given = new AbortController()
  const timer = setTimeout(() => given.abort(), mostMs)
  return fetch('/Common/HealthCheck', { cache: 'no-store', signal: given.signal })
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}

let doubt: Promise<Response | undefined> | undefined

/**
 * Sends a request and aborts it if the service answers nothing at all: a machine that hangs or is
 * cut off accepts a request and never answers. A service that is only slow is waited for.
 */
export async function watched(ask: (given: AbortSignal) => Promise<Response>): Promise<Response> {
  const given = new AbortController()
  const doubts = async () => {
    doubt ??= health().finally(() => {
      doubt = undefined
    })
    if (!(await doubt)) given.abort()
  }
  const timer = setInterval(() => void doubts(), patienceMs)
  return ask(given.signal).finally(() => clearInterval(timer))
}

/** A browser opens six connections to a server that speaks HTTP/1.1. */
const mostReads = 5
const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
const isMultiplexed = /^h[23]/.test(navigation?.nextHopProtocol ?? '')
let reading = 0
const waiting: (() => void)[] = []

/**
 * Sends a read, after others if many are under way. A connection stays free for the health check:
 * behind six slow reads it would get no answer, and the service would be taken for lost.
 */
export async function inTurn<T>(read: () => Promise<T>): Promise<T> {
  if (isMultiplexed) return read()
  if (reading < mostReads) reading++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await read()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else reading--
  }
}

/** Resolves as soon as the service can be reached. */
export const connected = () =>
  new Promise<void>((resolve) => {
    if (onlineManager.isOnline()) return resolve()
    const stop = onlineManager.subscribe((isOnline) => {
      if (!isOnline) return
      stop()
      resolve()
    })
  })

/**
 * Loads a part of the console, once the service can be reached. It may still fail: browsers remember
 * a failure, and an earlier version of the console is gone. The router then loads the page anew.
 */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    connectionLost()
    await connected()
    return load()
  }
}
