import { Anchor, Table } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { api } from '../shared/api/client.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { useProduct } from '../shared/api/products.ts'
import { count } from '../shared/format.ts'
import { linkTo } from '../shared/link.ts'
import { readSearch } from '../shared/list/filters.ts'

type Cell = { state?: string; type?: string }

/** The number of notices of each state and type; each number links to its notices. */
export function Board() {
  const { options } = useLookups()
  const [states, types] = [options('BizEventStatus'), options('BizEventType')]
  const cells = types.flatMap((type) =>
    states.map((state) => ({ state: state.value, type: type.value })),
  )
  const counts = useCounts(cells)
  const total = (wanted: Cell) =>
    cells.reduce((sum, { state, type }, i) => {
      const isIn = (wanted.state ?? state) === state && (wanted.type ?? type) === type
      return isIn ? sum + (counts[i] ?? 0) : sum
    }, 0)
  if (counts.includes(undefined) || total({}) === 0) return null
  const rows = [
    ...types.map(({ value, label }) => ({ label: `${label}s`, type: { type: value } })),
    { label: 'All', type: {} },
  ]
  return (
    <div className="card" style={{ maxWidth: 560, overflowX: 'auto' }}>
      <Table
        aria-label="Notices by state and type"
        verticalSpacing={5}
        horizontalSpacing={8}
        fz="sm"
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="quiet" fw={500} fz="xs">
              What
            </Table.Th>
            {states.map(({ value, label }) => (
              <Table.Th key={value} className="num quiet" fw={500} fz="xs">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ label, type }) => (
            <Table.Tr key={label}>
              <Table.Td>{label}</Table.Td>
              {states.map(({ value: state, label: inWords }) => (
                <Table.Td key={state} className="num">
                  <Counted
                    cell={{ state, ...type }}
                    number={total({ state, ...type })}
                    label={`${label}, ${inWords.toLowerCase()}`}
                  />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

/** Reads only the counts, with a page of one row each. */
function useCounts(cells: Required<Cell>[]): (number | undefined)[] {
  const { productID } = useProduct()
  return useQueries({
    queries: cells.map(({ state, type }) => ({
      queryKey: ['notices', productID, state, type],
      queryFn: async () => {
        const about = { ProductID: productID, BizEventStatusID: state, BizEventTypeID: type }
        const page = { PageSize: 1, IncludeTotal: true }
        return (await api.get<unknown[]>('/BizEvent', { ...about, ...page })).totalCount ?? 0
      },
    })),
  }).map(({ data }) => data)
}

type CountedProps = { cell: Cell; number: number; label: string }

function Counted({ cell, number, label }: CountedProps) {
  const { slug } = useProduct()
  const search = readSearch(useSearch({ strict: false }))
  const { state = '', type } = cell
  if (number === 0) return <span className="quiet">0</span>
  const isShown = search.BizEventStatusID === state && search.BizEventTypeID === type
  const address = `/${slug}/notices?BizEventStatusID=${state}`
  return (
    <Anchor
      component={Link}
      {...linkTo(type ? `${address}&BizEventTypeID=${type}` : address)}
      fw={isShown ? 700 : 500}
      fz="inherit"
      aria-label={`${count(number)} ${label}`}
      {...(isShown && { 'aria-current': 'true', underline: 'always' as const })}
    >
      {count(number)}
    </Anchor>
  )
}
