import { Table, Text } from '@mantine/core'
import { permissions, roles } from '../../src/platform/permission.ts'
import { resourceName } from '../approvals/words.ts'

const names = Object.keys(roles) as (keyof typeof roles)[]
const resources = [...new Set(permissions.map((permission) => permission.split('.')[0] ?? ''))]
/** Records that no approval rule is about. */
const others: Record<string, string> = {
  Audit: 'Audit trail',
  Approval: 'Approvals',
  Event: 'Events',
}
const verbs: Record<string, string> = {
  Read: 'read',
  Write: 'write',
  Approve: 'approve',
  Unlock: 'unlock',
}

/** The rights of a role on a kind of record, in words. */
function words(role: keyof typeof roles, resource: string): string {
  const own = roles[role].filter((permission) => permission.startsWith(`${resource}.`))
  return own.map((permission) => verbs[permission.split('.')[1] ?? ''] ?? permission).join(', ')
}

/** A table of the rights of each role. */
export const Roles = () => (
  <>
    <Text size="sm" className="quiet" mb="sm">
      A user may also have permissions of their own instead of a role.
    </Text>
    <Table fz="sm" verticalSpacing={6} horizontalSpacing={4} aria-label="Roles">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Records</Table.Th>
          {names.map((name) => (
            <Table.Th key={name}>{name}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {resources.map((resource) => (
          <Table.Tr key={resource}>
            <Table.Td>{others[resource] ?? resourceName(resource)}</Table.Td>
            {names.map((name) => (
              <Table.Td key={name} className="quiet">
                {words(name, resource) || '—'}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </>
)
