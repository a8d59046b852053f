import { Button, Group, Modal, type ModalProps, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'

type DialogProps = Pick<ModalProps, 'opened' | 'returnFocus'> & {
  onLeave: () => void
  onStay: () => void
}

/** Asks whoever is about to lose what they have entered. */
export const LeaveDialog = ({ onLeave, onStay, ...modal }: DialogProps) => (
  <Modal {...modal} onClose={onStay} title="Leave without saving?">
    <Text size="sm">What you have entered is not saved.</Text>
    <Group justify="flex-end" mt="md">
      <Button variant="default" onClick={onLeave}>
        Leave
      </Button>
      <Button onClick={onStay} data-autofocus>
        Stay
      </Button>
    </Group>
  </Modal>
)

/** Leaving with unsaved work asks. */
export function LeaveGuard({ dirty }: { dirty: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => dirty,
    enableBeforeUnload: () => dirty,
    withResolver: true,
  })
  return (
    <LeaveDialog
      opened={status === 'blocked'}
      onLeave={() => proceed?.()}
      onStay={() => reset?.()}
    />
  )
}
