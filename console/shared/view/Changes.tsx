import { Table, Text } from '@mantine/core'
import { count } from '../format.ts'
import { changedFields, fieldName } from './changed.ts'

const most = 200

const words = (value: unknown) =>
  value === null || value === undefined || value === '' ? '—' : String(value)

/** The changes in an audit record, with values before and after where it has both. */
export function Changes({ changes }: { changes: unknown }) {
  const rows = changedFields(changes)
  if (rows.length === 0) return <span className="quiet">Nothing more is recorded.</span>
  return (
    <>
      <Table verticalSpacing={4} layout="fixed" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="30%">Field</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, most).map(({ field, before, after }) => (
            <Table.Tr key={field} style={{ overflowWrap: 'anywhere', verticalAlign: 'top' }}>
              <Table.Td className="quiet">{fieldName(field)}</Table.Td>
              <Table.Td>{words(before)}</Table.Td>
              <Table.Td>{words(after)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {rows.length > most && (
        <Text size="sm" className="quiet">
          And {count(rows.length - most)} more.
        </Text>
      )}
    </>
  )
}
