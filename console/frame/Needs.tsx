import { ActionIcon, Anchor, Indicator, Popover, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Product } from '../shared/api/types.ts'
import { linkTo } from '../shared/link.ts'
import { Icon } from '../shared/view/icons.tsx'
import { useNeeds } from './needs.ts'

/** The bell: what needs whoever looks, each line leading to its list. */
export function Needs({ product }: { product: Product | undefined }) {
  const needs = useNeeds(product)
  const [open, setOpen] = useState(false)
  const label = needs.length > 0 ? `What needs you: ${needs.length}` : 'Nothing needs you'
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
          <Indicator disabled={needs.length === 0} size={8} offset={2} color="orange">
            <Icon name="bell" />
          </Indicator>
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="What needs you">
        <Stack gap="xs">
          {needs.length === 0 && (
            <Text size="sm" className="quiet">
              Nothing needs you now.
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
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
