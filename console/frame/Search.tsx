import { useDebouncedValue } from '@mantine/hooks'
import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../shared/api/client.ts'
import type { BizEntity, Product } from '../shared/api/types.ts'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { areas, settings } from './areas.ts'
import { recentlySeen } from './recent.ts'

type Hit = { to: string; title: string; subtitle: string }

/** Ctrl-K: places, what was seen lately, and investors by number. */
export function Search({ product }: { product: Product | undefined }) {
  const [text, setText] = useState('')
  const [asked] = useDebouncedValue(text.trim(), 120)
  const go = useNavigate()
  const found = useFound(product, asked)
  const action = ({ to, title, subtitle }: Hit, id: string): SpotlightActionData => ({
    id: `${id} ${to}`,
    label: title,
    description: subtitle,
    onClick: () => void go({ to }),
  })
  const wanted = text.trim().toLowerCase()
  const matches = ({ label }: { label: string }) => label.toLowerCase().includes(wanted)
  const places = usePlaces(product).filter(matches)
  const groups: SpotlightActionGroupData[] = [
    { group: 'Investors', actions: found.map((hit) => action(hit, 'found')) },
    {
      group: 'Recently seen',
      actions: wanted ? [] : recentlySeen().map((seen) => action(seen, 'seen')),
    },
    {
      group: 'Go to',
      actions: places.map(({ label, to, icon }) => ({
        id: `go ${to}`,
        label,
        leftSection: <Icon name={icon} />,
        onClick: () => void go({ to }),
      })),
    },
  ]
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      filter={(_query, actions) => actions}
      query={text}
      onQueryChange={setText}
      shortcut={['mod + K', '/']}
      nothingFound={asked.length < 2 ? 'Type at least two characters.' : 'Nothing found.'}
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <Icon name="search" />,
        placeholder: 'An account number, an area…',
        'aria-label': 'Search',
      }}
    />
  )
}

function usePlaces(product: Product | undefined) {
  const may = useMay()
  const base = product ? `/${product.productID}` : ''
  return [
    ...(product ? areas.map((area) => ({ ...area, to: base + area.path || '/' })) : []),
    ...settings.map((area) => ({ ...area, to: area.path })),
  ].filter(({ needs }) => may(needs))
}

function useFound(product: Product | undefined, text: string): Hit[] {
  const may = useMay()
  const { data = [] } = useQuery({
    queryKey: ['find', product?.productID, text],
    enabled: product !== undefined && text.length >= 2 && may('BizEntity.Read'),
    queryFn: async () => {
      const params = { ProductID: product?.productID, 'AccountNumber.contains': text, PageSize: 8 }
      return (await api.get<BizEntity[]>('/BizEntity', params)).data
    },
  })
  return data.map(({ bizEntityID, name, accounts }) => ({
    to: `/${product?.productID}/investors/${bizEntityID}`,
    title: name ?? '',
    subtitle: accounts.map(({ accountNumber }) => accountNumber).join(', '),
  }))
}
