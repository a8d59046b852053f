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
  /** What the button does, in words: "Declare", never "OK". */
  action: string
  busy: boolean
  error?: Error | null
  /** What the question tells: it is asked once that is of now. */
  anew?: Anew
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

/**
 * Whoever still holds the Enter that has asked would answer by it: only the button does. Nor is the
 * form meant that the question stands in, for React alone.
 */
function unheeded(event: FormEvent) {
  event.preventDefault()
  event.stopPropagation()
}

/** Asks before what cannot simply be undone; the browser judges what is entered, as in any form. */
export const Confirm = (props: Props) => {
  const { title, opened, onClose, onConfirm, action, busy, error, anew, danger, children } = props
  useReturn()
  const press = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) =>
    form?.reportValidity() && onConfirm()
  const cancel = useRef<HTMLButtonElement>(null)
  // The button that tries again goes, and the focus would go with it.
  const again = () => {
    cancel.current?.focus()
    anew?.readAnew()
  }
  const isOld = anew !== undefined && !anew.isNow
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {/* While it fades out, a second press of its button is none. */}
      <Stack gap="md" inert={!opened} component="form" onSubmit={unheeded}>
        <Text size="sm" component="div">
          {isOld ? <NotNow error={anew.error} retry={again} /> : children}
        </Text>
        {error && <Failure error={error} />}
        <Group justify="flex-end">
          {/* What is sent is not taken back by closing the question. */}
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
