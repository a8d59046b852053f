import { useMutation, useQueryClient } from '@tanstack/react-query'
import { use, useRef } from 'react'
import { isWaiting } from '../../../client/src/waiting.ts'
import { inForm } from '../form/problems.ts'
import { tellDone } from '../view/Failure.tsx'
import { askWhich } from './clash.ts'
import { api, newIntent } from './client.ts'
import { type Envelope, RegistryError } from './error.ts'
import { Saved } from './saved.ts'
import { readTagged, type Tagged } from './tagged.ts'

type Options<T> = {
  /**
   * The record as the form read it; it is saved only if it is unchanged since then or the user
   * insists.
   */
  tagged?: Tagged<unknown> | undefined
  onDone?: (data: T, message: string | null) => void
  /**
   * Called when nothing was saved: another user's version stays, or the change waits for approval.
   * The form should close all the same, so that the user does not send the change twice. `secret`
   * is what the change sets once it is approved, and can be read only now.
   */
  onKept: (secret?: string) => void
  onFailed?: (error: Error) => void
  /** The path of a field in the form, where it differs from the one in what is sent. */
  placeOf?: (path: string) => string
  /**
   * The answer can be read only this once: show it before anything else, and ask before leaving it.
   */
  isShownOnce?: boolean | undefined
}

/** Sends an empty field as null; an empty password stays, since it removes the password. */
const emptyAsNull = (name: string, value: unknown) =>
  value === '' && name !== 'password' ? null : value

type Answer<T> = Envelope<T> | 'kept'

/**
 * The Idempotency-Key of a write. The same body, pressed twice or sent again after a broken
 * connection, keeps its key and acts once; another body, or any body after a success, gets a new
 * key.
 */
export function useIntent() {
  const last = useRef({ body: '', intent: '' })
  const intentFor = (body: string) => {
    if (last.current.body !== body) last.current = { body, intent: newIntent() }
    return last.current.intent
  }
  const fulfilled = () => {
    last.current = { body: '', intent: '' }
  }
  return { intentFor, fulfilled }
}

/** A write of the API that acts once, however often it is sent. */
export function useWrite<T = unknown>(
  method: 'post' | 'put',
  path: string,
  { tagged, onDone, onKept, onFailed, placeOf, isShownOnce = false }: Options<T>,
) {
  const client = useQueryClient()
  const saved = use(Saved)
  const { intentFor, fulfilled } = useIntent()
  return useMutation<Answer<T>, Error, unknown>({
    mutationFn: async (body) => {
      const text = JSON.stringify(body, emptyAsNull)
      const intent = intentFor(text)
      try {
        if (tagged) return await replace<T>(JSON.parse(text), intent, tagged)
        return await api[method]<T>(path, JSON.parse(text), intent)
      } catch (error) {
        throw placeOf ? inForm(error, placeOf) : error
      }
    },
    onSuccess: async (answer) => {
      fulfilled()
      const waiting = answer !== 'kept' && isWaiting(answer.data) ? answer.data : undefined
      const done = answer === 'kept' || waiting ? undefined : answer
      if (done && isShownOnce) onDone?.(done.data, done.message)
      saved()
      // Read the data of the page again first: the next step may need what was just written.
      await client.invalidateQueries()
      if (done) return isShownOnce ? undefined : onDone?.(done.data, done.message)
      tellDone(answer === 'kept' ? 'Nothing is saved: the register’s version stays.' : waits)
      onKept(waiting?.secret)
    },
    onError: (error) => onFailed?.(error),
  })
}

/** An `onKept` for places without a form to close. */
export const stays = () => {}

export const waits = 'It waits until somebody else approves it.'

const hasChanged = (error: unknown): error is RegistryError =>
  error instanceof RegistryError && error.status === 412

/**
 * Saves over the version that was read. If the record has changed since, asks the user which to
 * keep.
 */
async function replace<T>(
  body: unknown,
  intent: string,
  read: Tagged<unknown>,
): Promise<Answer<T>> {
  const { path, params, record: before } = read
  let { tag } = read
  for (let key = intent; ; key = newIntent()) {
    try {
      return await api.put<T>(path, body, key, tag)
    } catch (error) {
      if (!hasChanged(error)) throw error
      const { record: now, tag: newer } = await readTagged(path, params)
      const choice = await askWhich({ before, now, mine: body })
      if (choice === 'stay') throw error
      if (choice === 'theirs') return 'kept'
      tag = newer
    }
  }
}

type DeleteOptions = { onDone: () => void; onKept?: () => void }

export function useDelete(path: string, { onDone, onKept }: DeleteOptions) {
  const client = useQueryClient()
  const { intentFor, fulfilled } = useIntent()
  return useMutation<Envelope<unknown>, Error, Record<string, string | number>>({
    mutationFn: (params) => api.delete(path, params, intentFor(JSON.stringify(params))),
    onSuccess: async ({ data }) => {
      fulfilled()
      await client.invalidateQueries()
      if (!isWaiting(data)) return onDone()
      tellDone(waits)
      onKept?.()
    },
  })
}
