import { Button, Group, Modal, type ModalProps, Text } from '@mantine/core'
import { useIsMutating } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'

type DialogProps = Pick<ModalProps, 'opened' | 'returnFocus'> & {
  onLeave: () => void
  onStay: () => void
}

const unsaved = {
  title: 'Leave without saving?',
  words: 'What you have entered is not saved.',
}
/** Its answer may be lost alone, and it is sent again when the service can be reached. */
const underWay = {
  title: 'Leave before it is answered?',
  words: 'What you have sent may be done already, or be done yet. Look before you enter it again.',
}

/** Asks whoever is about to lose what they have entered, or does not know what became of it. */
export function LeaveDialog({ onLeave, onStay, ...modal }: DialogProps) {
  const { title, words } = useIsMutating() > 0 ? underWay : unsaved
  return (
    <Modal {...modal} onClose={onStay} title={title}>
      <Text size="sm">{words}</Text>
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
}

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
