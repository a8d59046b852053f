import { Alert, Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { RegistryError } from '../api/error.ts'
import { forPeople, linesOf } from '../form/problems.ts'
import { Icon } from './icons.tsx'
import { ProblemLines } from './ProblemLines.tsx'

const requestOf = (error: unknown) => (error instanceof RegistryError ? error.requestID : null)
const wordsOf = (error: unknown) => linesOf(error).join(' ')

type Props = { error: unknown; retry?: () => void }

/** Room for the page head, so that the message is not hidden under it. */
const scrollMarginTop = 64

/**
 * Scrolls a message into view: the pressed button is at the end of a form, the message above it.
 */
export const inView = {
  ref: (alert: HTMLElement | null) => alert?.scrollIntoView({ block: 'nearest' }),
  style: { scrollMarginTop },
}

/** An error with advice, and the request id by which operators find it. */
export function Failure({ error, retry }: Props) {
  const requestID = requestOf(error)
  // A failed read does not scroll the page.
  const shown = retry ? {} : inView
  return (
    <Alert color="red" variant="light" icon={<Icon name="alert" />} role="alert" {...shown}>
      <ProblemLines error={error} />
      <Group justify="space-between" mt={4} gap="xs">
        {requestID && (
          <Text size="xs" className="quiet">
            Request {requestID}
          </Text>
        )}
        {retry && (
          <Button size="compact-xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  )
}

const closeButtonProps = { 'aria-label': 'Dismiss' }

export const tellFailure = (error: unknown) =>
  notifications.show({
    color: 'red',
    title: 'Not done',
    message: `${wordsOf(error)}${requestOf(error) ? ` (request ${requestOf(error)})` : ''}`,
    autoClose: 10_000,
    closeButtonProps,
  })

export const tellDone = (message: string) =>
  notifications.show({
    color: 'registry',
    message: forPeople(message),
    icon: <Icon name="check" size={16} />,
    autoClose: 8_000, // long enough for a user who is looking elsewhere
    closeButtonProps,
  })
