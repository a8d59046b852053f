import { Button, Group, Modal, type ModalProps, Text } from '@mantine/core'
import { useIsMutating } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'

/** Why the user is asked: entered values are not saved, or a value will not be shown again. */
export type Why = 'unsaved' | 'once'

type DialogProps = Pick<ModalProps, 'opened' | 'returnFocus'> & {
  why?: Why | undefined
  onLeave: () => void
  onStay: () => void
}

const losses = {
  unsaved: { title: 'Leave without saving?', words: 'What you entered is not saved yet.' },
  once: {
    title: 'Leave without keeping it?',
    words: 'This is shown only once. If you have not kept it, you must make a new one.',
  },
}
/**
 * While a request is under way: perhaps only its answer was lost, and it is sent again when the
 * service can be reached.
 */
const underWay = {
  title: 'Leave before it is answered?',
  words: 'What you sent may have been done, or may still be done. Check before you enter it again.',
}

/**
 * Asks before the user loses entered values, or leaves without knowing the outcome of a request.
 */
export function LeaveDialog({ why = 'unsaved', onLeave, onStay, ...modal }: DialogProps) {
  const isUnderWay = useIsMutating() > 0 && why === 'unsaved'
  const { title, words } = isUnderWay ? underWay : losses[why]
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

/** Asks before the user leaves the page with unsaved work. */
export function LeaveGuard({ dirty, why }: { dirty: boolean; why?: Why }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => dirty,
    enableBeforeUnload: () => dirty,
    withResolver: true,
  })
  return (
    <LeaveDialog
      opened={status === 'blocked'}
      why={why}
      onLeave={() => proceed?.()}
      onStay={() => reset?.()}
    />
  )
}
