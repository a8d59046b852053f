import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { useProduct } from '../api/products.ts'
import type { BizEntity } from '../api/types.ts'

type Props = {
  label: string
  value?: number | null
  onChange?: (accountID: number | null) => void
  error?: string
  required?: boolean
}

const most = 12

/** An account of the product, by its number. */
export function AccountField({ label, value, onChange, error, required = true }: Props) {
  const { productID } = useProduct()
  const [text, setText] = useState('')
  const [asked] = useDebouncedValue(text.split(' · ')[0] ?? '', 150)
  const { data = [] } = useQuery({
    queryKey: ['accounts', productID, asked],
    placeholderData: keepPreviousData,
    queryFn: async () =>
      (
        await api.get<BizEntity[]>('/BizEntity', {
          ProductID: productID,
          'AccountNumber.beginsWith': asked,
          PageSize: most,
        })
      ).data,
  })
  const options = data.flatMap(({ name, accounts }) =>
    accounts.map(({ accountID, accountNumber }) => ({
      value: String(accountID),
      label: `${accountNumber} · ${name}`,
    })),
  )
  return (
    <Select
      label={label}
      placeholder={required ? 'Type an account number' : 'All'}
      required={required}
      clearable={!required}
      searchable
      data={options}
      filter={({ options: all }) => all}
      value={value ? String(value) : null}
      onChange={(next) => onChange?.(next ? Number(next) : null)}
      onSearchChange={setText}
      nothingFoundMessage="No account begins so"
      error={error}
    />
  )
}
