import { useSuspenseQuery } from '@tanstack/react-query'
import type { Category, LookupValue } from '../../../src/platform/lookup/lookups.ts'
import { api } from './client.ts'

export type { Category }

export const lookupQuery = {
  queryKey: ['lookups'],
  queryFn: async () => (await api.get<LookupValue[]>('/Common/Lookup')).data,
  staleTime: Number.POSITIVE_INFINITY,
}

const usualPlaces = 2

export type Option = { value: string; label: string }

/** The values people choose from, by category. */
export function useLookups() {
  const { data: values } = useSuspenseQuery(lookupQuery)
  const of = (category: Category) => values.filter((value) => value.category === category)
  return {
    name: (category: Category, id: number | null | undefined): string =>
      of(category).find((value) => value.id === id)?.name ?? '',
    code: (category: Category, id: number | null | undefined): string =>
      of(category).find((value) => value.id === id)?.code ?? '',
    /** The places of a currency, which the service tells in words: "minor units 0". */
    places: (currencyID: number | null | undefined): number => {
      const words = of('Currency').find(({ id }) => id === currencyID)?.description ?? ''
      return Number(/minor units (\d)/.exec(words)?.[1] ?? usualPlaces)
    },
    options: (category: Category): Option[] =>
      of(category).map(({ id, name }) => ({ value: String(id), label: name })),
    /** Countries and states go by their codes. */
    codes: (category: Category): Option[] =>
      of(category).map(({ code, name }) => ({ value: code, label: name })),
  }
}
