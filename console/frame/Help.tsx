import { Anchor, Button, Drawer, Group, List, Stack, Text } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { helpFor } from './help-words.ts'

type Props = { opened: boolean; onClose: () => void; onKeys: () => void }

/** Help for the area in view, and where to read more. */
export function Help({ opened, onClose, onKeys }: Props) {
  const route = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId ?? '' })
  const { title, points } = helpFor(route)
  return (
    <Drawer opened={opened} onClose={onClose} title={`Help: ${title}`}>
      <Stack>
        <List spacing="sm" size="sm">
          {points.map((point) => (
            <List.Item key={point}>{point}</List.Item>
          ))}
        </List>
        <Text size="sm" className="quiet">
          A program can do everything that the console does:{' '}
          <Anchor href="/docs" inherit underline="always">
            the reference of the API
          </Anchor>
          .
        </Text>
        <Group>
          <Button
            variant="default"
            onClick={() => {
              onClose()
              onKeys()
            }}
          >
            Keyboard shortcuts
          </Button>
        </Group>
      </Stack>
    </Drawer>
  )
}
