import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Params } from '../api/client.ts'
import { useProduct } from '../api/products.ts'
import type { BizEntity, SearchResult } from '../api/types.ts'
import { beside } from '../format.ts'

type Props = {
  label: string
  value?: number | null
  onChange?: (accountID: number | null) => void
  error?: string
  required?: boolean
}

/** That it could not be asked does not say that there is none. */
const unread = 'Could not be looked up; type again'
/** Of those whose number begins so; a search gives no more than these. */
const [most, mostFound] = [12, 50]
/** The service searches for nothing shorter. */
const fewest = 2

/** The investors of a product whose account number begins with a text, then whom a search finds. */
async function investorsBy(text: string, productID: number): Promise<BizEntity[]> {
  const read = async (wanted: Params) =>
    (await api.get<BizEntity[]>('/BizEntity', { ProductID: productID, ...wanted })).data
  const named = async () => {
    const { data } = await api.get<SearchResult[]>('/Search', { Text: text })
    // Of an investor it tells the account numbers, by which those of the product are asked for.
    const numbers = data.flatMap(({ resource, subtitle }) =>
      resource === 'BizEntity' && subtitle ? subtitle.split(', ') : [],
    )
    if (numbers.length === 0) return []
    return read({ 'AccountNumber.in': numbers.join(), PageSize: mostFound })
  }
  const [begun, found] = await Promise.all([
    read({ 'AccountNumber.beginsWith': text, PageSize: most }),
    text.length < fewest ? [] : named(),
  ])
  const known = new Set(begun.map(({ bizEntityID }) => bizEntityID))
  return [...begun, ...found.filter(({ bizEntityID }) => !known.has(bizEntityID))]
}

/** An account of the product, by its number or by whose it is. */
export function AccountField({ label, value, onChange, error, required = true }: Props) {
  const { productID } = useProduct()
  const [text, setText] = useState('')
  // What is chosen stands there as its number and name.
  const wanted = (text.split(' · ')[0] ?? '').trim()
  const [asked] = useDebouncedValue(wanted, 150)
  const {
    data = [],
    isPlaceholderData,
    isError,
  } = useQuery({
    queryKey: ['accounts', productID, asked],
    placeholderData: keepPreviousData,
    queryFn: () => investorsBy(asked, productID),
  })
  // Those of an earlier text are none of this one: who is quick would choose the wrong account.
  const isLooking = isPlaceholderData || asked !== wanted
  const options = data.flatMap(({ name, accounts }) =>
    accounts.map(({ accountID, accountNumber }) => ({
      value: String(accountID),
      label: beside([accountNumber, name]),
    })),
  )
  return (
    <Select
      label={label}
      placeholder={required ? 'Type an account number or a name' : 'All'}
      required={required}
      clearable={!required}
      searchable
      data={options}
      filter={({ options: all }) => (isLooking ? [] : all)}
      value={value ? String(value) : null}
      onChange={(next) => onChange?.(next ? Number(next) : null)}
      onSearchChange={setText}
      nothingFoundMessage={isError ? unread : isLooking ? 'Looking…' : 'No such number or name'}
      error={error}
    />
  )
}
