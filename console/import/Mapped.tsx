import { Select, Table } from '@mantine/core'
import type { Mapping } from '../../src/integration/import/schema.ts'
import { Card } from '../shared/view/Page.tsx'

type Props = {
  headings: string[]
  fields: string[]
  mapping: Mapping
  onChange: (mapping: Mapping) => void
}

const leaveOut = ' leave out'

/**
 * Maps columns to fields. A heading that equals the name of a field maps to it until the user
 * changes that.
 */
export function Mapped({ headings, fields, mapping, onChange }: Props) {
  const byName = new Map(fields.map((field) => [field.toLowerCase(), field]))
  const own = (heading: string) =>
    byName.get(heading.toLowerCase()) ?? (heading.includes('.') ? heading : undefined)
  const set = (column: string, value: string | null) => {
    const others = mapping.filter((one) => one.column !== column)
    if (value === null || value === own(column)) return onChange(others)
    onChange([...others, value === leaveOut ? { column } : { column, field: value }])
  }
  const fieldOf = (column: string) => {
    const mapped = mapping.find((one) => one.column === column)
    return mapped ? (mapped.field ?? leaveOut) : (own(column) ?? null)
  }
  const options = [{ value: leaveOut, label: 'Leave out' }, ...fields]
  return (
    <Card title="Columns" padded={false}>
      <Table verticalSpacing={6} horizontalSpacing="md" fz="sm" aria-label="Columns">
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="quiet" fw={500} fz="xs">
              In the file
            </Table.Th>
            <Table.Th className="quiet" fw={500} fz="xs">
              Field of the registry
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {headings.map((heading) => {
            const value = fieldOf(heading)
            const known = own(heading)
            const data = known && !fields.includes(known) ? [...options, known] : options
            return (
              <Table.Tr key={heading}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{heading}</Table.Td>
                <Table.Td>
                  <Select
                    aria-label={`Field for ${heading}`}
                    placeholder="What its heading says"
                    data={data}
                    searchable
                    size="xs"
                    value={value}
                    onChange={(next) => set(heading, next)}
                  />
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </Card>
  )
}
