import { ActionIcon, Anchor, Button, Group, Indicator, Popover, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Product } from '../shared/api/types.ts'
import { linkTo } from '../shared/link.ts'
import { Icon } from '../shared/view/icons.tsx'
import { type Needs as AllNeeds, useNeeds } from './needs.ts'

/** Lists that could not be read may still hold something for the user, so the label says so. */
const labelOf = ({ needs, unread, isKnown }: AllNeeds) => {
  if (needs.length > 0) return `What needs you: ${needs.length}`
  if (unread.length > 0) return 'What needs you could not be read'
  return isKnown ? 'Nothing needs you' : 'What needs you'
}

/** The lists that could not be read, which may hold something for the user as well. */
export const Unread = ({ unread, retry }: Pick<AllNeeds, 'unread' | 'retry'>) =>
  unread.length > 0 && (
    <Group gap="xs" role="alert">
      <Text size="sm">Could not be read: {unread.join(', ')}.</Text>
      <Button size="compact-xs" variant="default" onClick={retry}>
        Try again
      </Button>
    </Group>
  )

/** The bell: tasks that wait for the user, each linked to its list. */
export function Needs({ product }: { product: Product | undefined }) {
  const all = useNeeds(product)
  const { needs, unread, isKnown } = all
  const [open, setOpen] = useState(false)
  const label = labelOf(all)
  return (
    <Popover
      opened={open}
      onChange={setOpen}
      position="bottom-end"
      width={300}
      shadow="md"
      withinPortal={false}
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={label}
          title={label}
          onClick={() => setOpen(!open)}
        >
          <Indicator
            disabled={needs.length === 0 && unread.length === 0}
            size={8}
            offset={2}
            color={needs.length > 0 ? 'orange' : 'red'}
          >
            <Icon name="bell" />
          </Indicator>
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="What needs you">
        <Stack gap="xs">
          {needs.length === 0 && unread.length === 0 && (
            <Text size="sm" className="quiet">
              {isKnown ? 'Nothing needs you now.' : 'It is being looked up…'}
            </Text>
          )}
          {needs.map(({ text, to }) => (
            <Anchor
              key={text}
              component={Link}
              {...linkTo(to)}
              size="sm"
              onClick={() => setOpen(false)}
            >
              {text}
            </Anchor>
          ))}
          <Unread {...all} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
