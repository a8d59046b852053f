import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { api, newIntent } from './client.ts'
import type { Envelope } from './error.ts'

type Options<T> = {
  onDone?: (data: T, message: string | null) => void
  onFailed?: (error: Error) => void
}

/** A field left empty is a value not given. */
const emptyAsNull = (_name: string, value: unknown) => (value === '' ? null : value)

/**
 * One write of the API. The same body pressed twice, or sent again because the connection broke,
 * carries the same Idempotency-Key and is done once; another body is another intent.
 */
export function useWrite<T = unknown>(
  method: 'post' | 'put',
  path: string,
  { onDone, onFailed }: Options<T> = {},
) {
  const client = useQueryClient()
  const last = useRef({ body: '', intent: '' })
  const intentFor = (body: string) => {
    if (last.current.body !== body) last.current = { body, intent: newIntent() }
    return last.current.intent
  }
  return useMutation<Envelope<T>, Error, unknown>({
    mutationFn: (body) => {
      const text = JSON.stringify(body, emptyAsNull)
      return api[method]<T>(path, JSON.parse(text), intentFor(text))
    },
    onSuccess: async ({ data, message }) => {
      last.current = { body: '', intent: '' }
      // What is on the page is read again first: what comes next may need what was just written.
      await client.invalidateQueries()
      onDone?.(data, message)
    },
    onError: (error) => onFailed?.(error),
  })
}

export function useDelete(path: string, onDone: () => void) {
  const client = useQueryClient()
  return useMutation<unknown, Error, Record<string, string | number>>({
    mutationFn: (params) => api.delete(path, params),
    onSuccess: async () => {
      await client.invalidateQueries()
      onDone()
    },
  })
}
