import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { Failure } from '../view/Failure.tsx'

type Props = {
  title: string
  opened: boolean
  onClose: () => void
  onConfirm: () => void
  /** What the button does, in words: "Declare", never "OK". */
  action: string
  busy: boolean
  error?: Error | null
  danger?: boolean
  children: ReactNode
}

/** A question that goes with its component gives the focus back to where it was asked. */
function useReturn() {
  const [before] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      const isLost = () => document.activeElement === document.body
      setTimeout(() => isLost() && before instanceof HTMLElement && before.focus())
    },
    [before],
  )
}

/** Asks before what cannot simply be undone. */
export const Confirm = (props: Props) => {
  const { title, opened, onClose, onConfirm, action, busy, error, danger, children } = props
  useReturn()
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {/* While it fades out, a second press of its button is none. */}
      <Stack gap="md" inert={!opened}>
        <Text size="sm" component="div">
          {children}
        </Text>
        {error && <Failure error={error} />}
        <Group justify="flex-end">
          {/* What is sent is not taken back by closing the question. */}
          <Button variant="default" onClick={onClose}>
            {busy ? 'Close' : 'Cancel'}
          </Button>
          <Button color={danger ? 'red' : undefined} loading={busy} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
