import { Table } from '@mantine/core'

type Pair = { from: unknown; to: unknown }

const isPair = (value: unknown): value is Pair =>
  typeof value === 'object' && value !== null && 'from' in value && 'to' in value

const words = (value: unknown): string => {
  if (value === null || value === undefined) return '—'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What an audit record says was changed: before and after where it knows both. */
export function Changes({ changes }: { changes: unknown }) {
  const entries = Object.entries((changes ?? {}) as Record<string, unknown>)
  if (entries.length === 0) return <span className="quiet">Nothing more is recorded.</span>
  return (
    <Table verticalSpacing={4} layout="fixed" fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="30%">Field</Table.Th>
          <Table.Th>Before</Table.Th>
          <Table.Th>After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map(([field, value]) => (
          <Table.Tr key={field} style={{ overflowWrap: 'anywhere', verticalAlign: 'top' }}>
            <Table.Td className="quiet">{field}</Table.Td>
            <Table.Td>{isPair(value) ? words(value.from) : '—'}</Table.Td>
            <Table.Td>{words(isPair(value) ? value.to : value)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
