import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { type FormEvent, type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { Anew } from '../api/anew.ts'
import { Failure } from '../view/Failure.tsx'
import { Loading } from '../view/Page.tsx'

type Props = {
  title: string
  opened: boolean
  onClose: () => void
  onConfirm: () => void
  /** The action of the button in words: "Declare", never "OK". */
  action: string
  busy: boolean
  error?: Error | null
  /** Reads the figures in the question again; the button stays disabled until they are current. */
  anew?: Anew
  danger?: boolean
  children: ReactNode
}

/**
 * Returns the focus to where the question was asked, also when the question unmounts with its
 * component.
 */
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

/**
 * Ignores submit events. An Enter key still held from opening the question would confirm it, so
 * only the button confirms; and React passes events of the dialog on to a form around it in the
 * component tree.
 */
function unheeded(event: FormEvent) {
  event.preventDefault()
  event.stopPropagation()
}

/**
 * Asks before an action that cannot simply be undone; the browser validates the inputs, as in any
 * form.
 */
export const Confirm = (props: Props) => {
  const { title, opened, onClose, onConfirm, action, busy, error, anew, danger, children } = props
  useReturn()
  const press = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) =>
    form?.reportValidity() && onConfirm()
  const cancel = useRef<HTMLButtonElement>(null)
  // The retry button disappears and would take the focus with it.
  const again = () => {
    cancel.current?.focus()
    anew?.readAnew()
  }
  const isOld = anew !== undefined && !anew.isNow
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {/* While the dialog fades out, a second press of its button is ignored. */}
      <Stack gap="md" inert={!opened} component="form" onSubmit={unheeded}>
        <Text size="sm" component="div">
          {isOld ? <NotNow error={anew.error} retry={again} /> : children}
        </Text>
        {error && <Failure error={error} />}
        <Group justify="flex-end">
          {/* Closing the question does not cancel a request that was sent. */}
          <Button ref={cancel} variant="default" onClick={onClose}>
            {busy ? 'Close' : 'Cancel'}
          </Button>
          <Button
            color={danger ? 'red' : undefined}
            loading={busy}
            disabled={isOld}
            onClick={press}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const NotNow = ({ error, retry }: { error: Error | undefined; retry: () => void }) =>
  error ? <Failure error={error} retry={retry} /> : <Loading />
