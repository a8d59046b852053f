import { Table } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Column } from '../list/columns.ts'

export type RowsProps<Row> = {
  label: string
  columns: Column<Row>[]
  rows: Row[]
  keyOf: (row: Row) => string | number
  /** Totals below the columns. */
  foot?: ReactNode[]
}

/** Makes a table that is wider than the screen scrollable by keyboard. */
function useScrolls(label: string) {
  const ref = useRef<HTMLDivElement>(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const box = ref.current
    if (!box) return
    const seen = new ResizeObserver(() => setScrolls(box.scrollWidth > box.clientWidth))
    // Observe the table as well: a text that arrives later widens the table and not the box around
    // it.
    for (const one of [box, ...box.querySelectorAll('table')]) seen.observe(one)
    return () => seen.disconnect()
  }, [])
  return { ref, ...(scrolls && { tabIndex: 0, role: 'group', 'aria-label': label }) }
}

/** A short table, whole in the page. */
export const Rows = <Row,>({ label, columns, rows, keyOf, foot }: RowsProps<Row>) => (
  <Table.ScrollContainer
    minWidth={Math.min(columns.length * 110, 900)}
    type="native"
    {...useScrolls(label)}
  >
    <Table
      verticalSpacing={8}
      horizontalSpacing="sm"
      aria-label={label}
      fz="sm"
      style={{ whiteSpace: 'nowrap' }}
    >
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ id, title, right }) => (
            <Table.Th key={id} className={right ? 'num quiet' : 'quiet'} fw={500} fz="xs">
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)}>
            {columns.map((column, i) => (
              <Table.Td
                key={column.id}
                className={column.right ? 'num' : undefined}
                // The name of a row may wrap; figures and dates never do.
                {...(i === 0 && { miw: 120, style: { whiteSpace: 'normal' } })}
              >
                {column.cell?.(row) ?? column.text(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
      {foot && (
        <Table.Tfoot>
          <Table.Tr>
            {columns.map(({ id, right }, i) => (
              <Table.Td key={id} className={right ? 'num' : undefined} fw={600}>
                {foot[i]}
              </Table.Td>
            ))}
          </Table.Tr>
        </Table.Tfoot>
      )}
    </Table>
  </Table.ScrollContainer>
)
