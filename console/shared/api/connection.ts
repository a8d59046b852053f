import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

const everyMs = 2000
/** So long an answer may take before it is asked whether there is a service; and so long that. */
const [patienceMs, mostMs] = [10_000, 15_000]

/**
 * Whether the service can be reached. While it cannot, reads and writes wait where they are and go
 * on by themselves afterwards, a write under the key that it was first sent with.
 */
export const useIsConnected = () =>
  useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  )

/** A request did not get through: from now on the service is asked until it answers. */
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

/** What the service says of itself; nothing where it says nothing. */
function health(): Promise<Response | undefined> {
  const given = new AbortController()
  const timer = setTimeout(() => given.abort(), mostMs)
  return fetch('/Common/HealthCheck', { cache: 'no-store', signal: given.signal })
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}

let doubt: Promise<Response | undefined> | undefined

/**
 * A request that is given up where the service does not answer at all: a machine that hangs, or is
 * cut off, takes it and says nothing. One that is only slow is waited for.
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

/** The next moment at which the service can be reached. */
export const connected = () =>
  new Promise<void>((resolve) => {
    if (onlineManager.isOnline()) return resolve()
    const stop = onlineManager.subscribe((isOnline) => {
      if (!isOnline) return
      stop()
      resolve()
    })
  })
