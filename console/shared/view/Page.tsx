import { Anchor, Box, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { linkTo } from '../link.ts'
import { lastOf } from '../list/places.ts'

type Props = {
  title: string
  /** Shown beside the title: a state, a count. */
  aside?: ReactNode
  /** The list that the page belongs to; the link leads to it as it was left. */
  back?: { to: string; label: string }
  /** The actions of the page; the main action last. */
  actions?: ReactNode
  children: ReactNode
  /** Text and forms are narrower than tables. */
  narrow?: boolean
}

/** The layout of every page: title, actions and content. */
export function Page({ title, aside, back, actions, children, narrow }: Props) {
  useEffect(() => {
    document.title = `${title} · Registry`
  }, [title])
  return (
    <Stack
      className="page"
      gap="md"
      w="100%"
      maw={narrow ? 980 : undefined}
      mx={narrow ? 'auto' : undefined}
      h="100%"
    >
      {back && (
        <Anchor component={Link} {...linkTo(lastOf(back.to))} size="xs" mb={-12} className="long">
          {back.label}
        </Anchor>
      )}
      <Group justify="space-between" gap="sm" mih={36}>
        <Group gap="sm">
          <Title order={1}>{title}</Title>
          {aside}
        </Group>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Stack>
  )
}

type CardProps = { title?: string; actions?: ReactNode; children: ReactNode; padded?: boolean }

export const Card = ({ title, actions, children, padded = true }: CardProps) => (
  <Box component="section" className="card" aria-label={title}>
    {title && (
      <Group justify="space-between" px="md" pt={12} pb={padded ? 4 : 12} gap="xs">
        <Title order={2}>{title}</Title>
        <Group gap="xs">{actions}</Group>
      </Group>
    )}
    <Box p={padded ? 'md' : 0} pt={padded && title ? 6 : undefined}>
      {children}
    </Box>
  </Box>
)

/** An empty state: what is missing, and what to do first. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <Stack align="center" gap={6} py={40} px="md" ta="center">
    <Text fw={600}>{title}</Text>
    <Box className="quiet" maw={420} component="div">
      {children}
    </Box>
  </Stack>
)

type MissingProps = { title: string; children: ReactNode; back?: { to: string; label: string } }

/** A page for a record that does not exist or may not be seen, with the way back. */
export const Missing = ({ title, children, back }: MissingProps) => (
  <Page title={title} {...(back && { back })} narrow>
    <div className="card">
      <Box className="quiet" p="md">
        {children}
      </Box>
    </div>
  </Page>
)

export const Loading = () => (
  <Stack gap="xs" p="md" role="status" aria-label="Loading">
    {[90, 73, 56, 79].map((width) => (
      <Skeleton key={width} height={18} w={`${width}%`} />
    ))}
  </Stack>
)
