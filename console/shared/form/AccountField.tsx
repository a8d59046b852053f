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

/** Shown when the lookup failed, which does not mean that there is no such account. */
const unread = 'Could not be looked up; type again'
/** The most investors found by account number, and the most that a search returns. */
const [most, mostFound] = [12, 50]
/** The fewest characters that the service searches for. */
const fewest = 2

/**
 * The investors of a product whose account number begins with a text, followed by those a search
 * finds.
 */
async function investorsBy(text: string, productID: number): Promise<BizEntity[]> {
  const read = async (wanted: Params) =>
    (await api.get<BizEntity[]>('/BizEntity', { ProductID: productID, ...wanted })).data
  const named = async () => {
    const { data } = await api.get<SearchResult[]>('/Search', { Text: text })
    // A search result lists an investor's account numbers; use them to read the investors of this
    // product.
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

/** A field for an account of the product, found by its number or by the name of its investor. */
export function AccountField({ label, value, onChange, error, required = true }: Props) {
  const { productID } = useProduct()
  const [text, setText] = useState('')
  // A chosen account is shown as its number and name.
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
  // Options may still belong to an earlier text, and a quick user would choose the wrong account.
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
