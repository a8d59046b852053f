import { useDebouncedValue } from '@mantine/hooks'
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api } from '../shared/api/client.ts'
import { useProducts } from '../shared/api/products.ts'
import type { SearchResult as Found, Product } from '../shared/api/types.ts'
import { useMay } from '../shared/permission.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { actions, areas, type Place, settings } from './areas.ts'
import { foundGroups, placeOf, subtitleOf } from './found.ts'
import { type Seen, useRecentlySeen } from './recent.ts'

type Target = Pick<Place, 'label' | 'icon'> & { to: string }

const nowhere = new Error('It belongs to no investor, so there is no page to show it on.')
/** The fewest characters that the service searches for. */
const fewest = 2
/** The most results shown of each kind; a longer text narrows them down. */
const most = 8
const none: Found[] = []

const [store, handle] = createSpotlight()
export const openSearch = handle.open

/**
 * Results arrive after typing. The first result is then selected for Enter, unless the user has
 * moved on to another; the attributes set here are those that the Spotlight component sets itself.
 */
function useFirstChosen(found: Found[]) {
  useEffect(() => {
    const { listId, selected } = store.getState()
    if (found.length === 0 || selected > 0) return
    const actions = [...document.querySelectorAll(`#${CSS.escape(listId)} [data-action]`)]
    for (const action of actions) action.removeAttribute('data-selected')
    actions[0]?.setAttribute('data-selected', 'true')
    store.setState({ ...store.getState(), selected: 0 })
  }, [found])
}

/** Ctrl+K: finds records of the register, pages, actions and recently seen records. */
export function Search({ product }: { product: Product | undefined }) {
  const [text, setText] = useState('')
  const [asked] = useDebouncedValue(text.trim(), 80)
  const { data: found = none, isPlaceholderData } = useFound(asked)
  // Results shown may still belong to an earlier text; the answer for this text follows shortly.
  const isLooking = text.trim().length >= fewest && (isPlaceholderData || asked !== text.trim())
  const open = useOpen(product)
  const hurry = useHurry(text, found, isLooking, open)
  const hit: Hit = { open, hurry: isLooking ? hurry : undefined }
  const groups = useGroups(product, text.trim().toLowerCase(), found, hit)
  useFirstChosen(found)
  return (
    <Spotlight
      store={store}
      actions={groups.filter((group) => group.actions.length > 0)}
      filter={(_query, all) => all}
      query={text}
      onQueryChange={setText}
      shortcut={['mod + K', '/']}
      nothingFound={asked.length < fewest ? 'Type at least two characters.' : 'Nothing found.'}
      attributes={{ content: { 'aria-label': 'Search or go to' } }}
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <Icon name="search" />,
        placeholder: 'A name, a number, an e-mail, an external id, an area…',
        'aria-label': 'Search',
      }}
    />
  )
}

function useFound(text: string) {
  return useQuery({
    queryKey: ['search', text],
    enabled: text.length >= fewest,
    // Earlier results stay until the next answer arrives; an emptied field shows none at once.
    ...(text.length >= fewest && { placeholderData: keepPreviousData }),
    queryFn: async () => (await api.get<Found[]>('/Search', { Text: text })).data,
  })
}

/** Opens the page of a result. */
function useOpen(product: Product | undefined) {
  const go = useNavigate()
  const productIDs = useProducts().map(({ productID }) => productID)
  return async (hit: Found) => {
    handle.close()
    try {
      const to = await placeOf(hit, product?.productID ?? null, productIDs)
      if (to) await go({ href: `/console${to}` })
      else tellFailure(nowhere)
    } catch (error) {
      tellFailure(error)
    }
  }
}

/**
 * What choosing a result does; `hurry` is set while the answer for the typed text is still awaited.
 */
type Hit = { open: (hit: Found) => Promise<void>; hurry: (() => void) | undefined }

/**
 * Remembers an Enter pressed before the answer arrives, and then opens the first result of that
 * answer instead of an earlier one still shown.
 */
function useHurry(text: string, found: Found[], isLooking: boolean, open: Hit['open']) {
  const [hurried, setHurried] = useState<string>()
  const isDue = hurried === text && !isLooking
  useEffect(() => {
    if (!isDue) return
    setHurried(undefined)
    const first = foundGroups.flatMap(({ resource }) =>
      found.filter((hit) => hit.resource === resource),
    )[0]
    if (first) void open(first)
  })
  return () => setHurried(text)
}

function useGroups(product: Product | undefined, wanted: string, found: Found[], on: Hit) {
  const go = useNavigate()
  const hits = (resource: string): SpotlightActionData[] =>
    found
      .filter((hit) => wanted.length >= fewest && hit.resource === resource)
      .slice(0, most)
      .map((hit) => ({
        id: `found ${resource} ${hit.id}`,
        label: hit.title ?? '',
        description: subtitleOf(hit),
        closeSpotlightOnTrigger: false,
        // A click by keyboard has detail 0.
        onClick: ({ detail }) => (on.hurry && detail === 0 ? on.hurry() : void on.open(hit)),
      }))
  const place = ({ to, label, icon }: Target) => ({
    id: `go ${to}`,
    label,
    leftSection: <Icon name={icon} />,
    onClick: () => void go({ to }),
  })
  const matches = ({ label }: { label: string }) => label.toLowerCase().includes(wanted)
  const places = usePlaces(product)
  const products = useProducts()
  const recent = useRecentlySeen(products)
  const groups: SpotlightActionGroupData[] = [
    ...foundGroups.map(({ resource, label }) => ({ group: label, actions: hits(resource) })),
    { group: 'Recently seen', actions: wanted ? [] : recent.map(seenBefore(go)) },
    { group: 'Go to', actions: places.filter(matches).map(place) },
    {
      group: 'Products',
      actions: wanted ? targetsOf(products).filter(matches).slice(0, most).map(place) : [],
    },
    { group: 'Do', actions: useActions(product).filter(matches).map(place) },
  ]
  return groups
}

const targetsOf = (products: Product[]): Target[] =>
  products.map(({ productID, name }) => ({
    to: `/${productID}`,
    label: name ?? `Product ${productID}`,
    icon: 'overview',
  }))

const seenBefore =
  (go: ReturnType<typeof useNavigate>) =>
  ({ to, title, subtitle }: Seen): SpotlightActionData => ({
    id: `seen ${to}`,
    label: title,
    description: subtitle,
    onClick: () => void go({ to }),
  })

function usePlaces(product: Product | undefined) {
  const may = useMay()
  return [
    ...within(product, areas),
    ...settings.map((area) => ({ ...area, to: area.path })),
  ].filter(({ needs }) => may(needs))
}

function useActions(product: Product | undefined) {
  const may = useMay()
  return within(product, actions).filter(({ needs }) => may(needs))
}

/** Pages of a product cannot be opened while there is no product. */
const within = <T extends { path: string }>(product: Product | undefined, all: T[]) =>
  product ? all.map((one) => ({ ...one, to: `/${product.productID}${one.path}` })) : []
