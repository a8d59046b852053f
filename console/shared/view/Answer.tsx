import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failure } from './Failure.tsx'
import { Loading } from './Page.tsx'

type Props<T> = { of: UseQueryResult<T>; children: (data: T) => ReactNode }

/** Renders part of a page once its data is read; before that it must not look empty. */
export function Answer<T>({ of: { data, error, refetch }, children }: Props<T>) {
  if (data !== undefined) return children(data)
  return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />
}

/** The text for a figure that is not known. */
export const unread = ({ isError }: { isError: boolean }) => (isError ? 'could not be read' : '…')
