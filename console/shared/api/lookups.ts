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

/** The lookup values by category. */
export function useLookups() {
  const { data: values } = useSuspenseQuery(lookupQuery)
  const of = (category: Category) => values.filter((value) => value.category === category)
  return {
    name: (category: Category, id: number | null | undefined): string =>
      of(category).find((value) => value.id === id)?.name ?? '',
    code: (category: Category, id: number | null | undefined): string =>
      of(category).find((value) => value.id === id)?.code ?? '',
    /** The decimals of a currency, which its description states in words: "minor units 0". */
    places: (currencyID: number | null | undefined): number => {
      const words = of('Currency').find(({ id }) => id === currencyID)?.description ?? ''
      return Number(/minor units (\d)/.exec(words)?.[1] ?? usualPlaces)
    },
    options: (category: Category): Option[] =>
      of(category).map(({ id, name }) => ({ value: String(id), label: name })),
    /** Options for countries and states, which are stored by code. */
    codes: (category: Category): Option[] =>
      of(category).map(({ code, name }) => ({ value: code, label: name })),
  }
}
