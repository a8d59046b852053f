import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

const everyMs = 2000

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
  const answers = await fetch('/Common/HealthCheck', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (answers) onlineManager.setOnline(true)
  else setTimeout(() => void knock(), everyMs)
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
