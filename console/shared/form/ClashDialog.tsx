import { Button, Group, Modal, ScrollArea, Stack, Table, Text } from '@mantine/core'
import { differences, useClash, type Whose } from '../api/clash.ts'
import { fieldName } from '../view/changed.ts'
import { Tag, type Tone } from '../view/Status.tsx'

const words: Record<Whose, { text: string; tone: Tone }> = {
  you: { text: 'You changed it', tone: 'good' },
  somebody: { text: 'Changed meanwhile', tone: 'waits' },
  both: { text: 'Both changed it', tone: 'wrong' },
}

/** Shown when another user saved the record during editing: both versions, and a choice. */
export function ClashDialog() {
  const clash = useClash()
  if (!clash) return null
  const rows = differences(clash)
  const undone = rows.filter(({ whose }) => whose !== 'you').length
  return (
    <Modal
      opened
      onClose={() => clash.choose('stay')}
      title="Somebody else has changed this meanwhile"
      size="xl"
    >
      <Stack gap="md">
        <Text size="sm">
          {rows.length === 0
            ? 'What you entered is on the register already.'
            : 'This is where your version differs from what is on the register now.'}
        </Text>
        {rows.length > 0 && (
          <ScrollArea.Autosize mah={360}>
            <Table verticalSpacing={6} fz="sm" aria-label="Both versions" layout="fixed">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Field</Table.Th>
                  <Table.Th>On the register now</Table.Th>
                  <Table.Th>Yours</Table.Th>
                  <Table.Th w={150}>Who</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody style={{ overflowWrap: 'anywhere' }}>
                {rows.map(({ field, now, mine, whose }) => (
                  <Table.Tr key={field}>
                    <Table.Td className="quiet">{fieldName(field)}</Table.Td>
                    <Table.Td>{now || '—'}</Table.Td>
                    <Table.Td>{mine || '—'}</Table.Td>
                    <Table.Td>
                      <Tag tone={words[whose].tone}>{words[whose].text}</Tag>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollArea.Autosize>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => clash.choose('stay')}>
            Back to the form
          </Button>
          <Button variant="default" onClick={() => clash.choose('theirs')}>
            Keep the register’s
          </Button>
          <Button color={undone > 0 ? 'red' : undefined} onClick={() => clash.choose('mine')}>
            Save mine over it
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
