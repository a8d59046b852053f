import { Alert, Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { RegistryError } from '../api/error.ts'
import { forPeople } from '../form/problems.ts'
import { Icon } from './icons.tsx'

const requestOf = (error: unknown) => (error instanceof RegistryError ? error.requestID : null)
const wordsOf = (error: unknown) =>
  error instanceof Error ? forPeople(error.message) : 'Something went wrong in this page.'

type Props = { error: unknown; retry?: () => void }

/** Under the head of the page, where it is seen. */
const scrollMarginTop = 64

/** What was pressed stands at the end of a form, and what is wrong with it above: it is shown. */
export const inView = {
  ref: (alert: HTMLElement | null) => alert?.scrollIntoView({ block: 'nearest' }),
  style: { scrollMarginTop },
}

/** What happened and what to do, with the number our people find it by. */
export function Failure({ error, retry }: Props) {
  const requestID = requestOf(error)
  // What was only to be read does not move the page.
  const shown = retry ? {} : inView
  return (
    <Alert color="red" variant="light" icon={<Icon name="alert" />} role="alert" {...shown}>
      <Text size="sm">{wordsOf(error)}</Text>
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
    autoClose: 8_000, // to be read by who looks elsewhere when it comes
    closeButtonProps,
  })
