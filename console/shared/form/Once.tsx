import { Alert, Button, Code, Group, Stack } from '@mantine/core'
import { type ReactNode, use, useEffect } from 'react'
import { ShownOnce } from '../api/saved.ts'
import { LeaveGuard } from './LeaveGuard.tsx'

type Props = { secret: string; onKept: () => void; children: ReactNode }

/**
 * Shows a secret that cannot be read again; leaving before the user confirms having kept it asks
 * first.
 */
export function Once({ secret, onKept, children }: Props) {
  const show = use(ShownOnce)
  useEffect(() => {
    show(true)
    return () => show(false)
  }, [show])
  return (
    <Stack>
      <LeaveGuard dirty why="once" />
      <Alert color="yellow">{children}</Alert>
      <Code block>{secret}</Code>
      <Group justify="flex-end">
        <Button onClick={onKept}>I have kept it</Button>
      </Group>
    </Stack>
  )
}
