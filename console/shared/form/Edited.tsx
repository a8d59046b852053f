import { type ReactNode, Suspense } from 'react'
import type { Params } from '../api/client.ts'
import { type Tagged, useTagged } from '../api/tagged.ts'
import { Loading } from '../view/Page.tsx'

type Props<T> = { path: string; params: Params; children: (tagged: Tagged<T>) => ReactNode }

/** Reads a record again with its ETag, for the form that edits it. */
export const Edited = <T,>(props: Props<T>) => (
  <Suspense fallback={<Loading />}>
    <Read {...props} />
  </Suspense>
)

const Read = <T,>({ path, params, children }: Props<T>) => children(useTagged<T>(path, params))
