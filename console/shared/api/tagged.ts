import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Params } from './client.ts'

/** A record with the ETag of the version that was read; saving it sends the tag along. */
export type Tagged<T> = { record: T; tag: string | null; path: string; params: Params }

export async function readTagged<T>(path: string, params: Params): Promise<Tagged<T>> {
  const { data, tag } = await api.tagged<T | T[]>(path, params)
  const [record] = [data].flat() as T[]
  if (record === undefined) throw new Error('It is not on the register any more.')
  return { record, tag, path, params }
}

/**
 * The record of a form, read when the form opens and kept at that version. A later read must not
 * replace the tag: the user's values were typed over the older version.
 */
export function useTagged<T>(path: string, params: Params): Tagged<T> {
  const { data } = useSuspenseQuery({
    queryKey: ['tagged', path, params],
    queryFn: () => readTagged<T>(path, params),
    gcTime: 0,
    staleTime: 0,
  })
  const [first] = useState(data)
  return first
}
