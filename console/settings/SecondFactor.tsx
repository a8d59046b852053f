import { Anchor, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { stays, useDelete, useWrite } from '../shared/api/write.ts'
import { Once } from '../shared/form/Once.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card } from '../shared/view/Page.tsx'
import { Active } from '../shared/view/Status.tsx'

type Secret = { secret: string; otpauthUrl: string }

/**
 * Sets up or removes the second factor: a code from an authenticator app in addition to the
 * password.
 */
export function SecondFactor({ has }: { has: boolean }) {
  // Kept in this component: confirming unmounts the enrolment form, but the recovery codes must
  // still be shown.
  const [codes, setCodes] = useState<string[]>()
  const form = has ? <Remove /> : <Enrol onCodes={setCodes} />
  return (
    <Card title="Second factor" actions={<Active on={has} />}>
      {codes ? (
        <Once secret={codes.join('\n')} onKept={() => setCodes(undefined)}>
          {keepCodes}
        </Once>
      ) : (
        form
      )}
    </Card>
  )
}

export const keepCodes =
  'Keep these codes where you find them without your phone. Each works once, and they are not ' +
  'shown again.'

/** Sets up an authenticator app: shows the secret and asks for the first code. */
export function Enrol({ onCodes }: { onCodes: (codes: string[]) => void }) {
  const [secret, setSecret] = useState<Secret>()
  const [code, setCode] = useState('')
  const begin = useWrite<Secret>('post', '/User/SecondFactor', {
    onDone: setSecret,
    onKept: stays,
  })
  const confirm = useWrite<{ recoveryCodes: string[] }>('post', '/User/SecondFactor/Confirm', {
    onKept: stays,
    isShownOnce: true,
    onDone: ({ recoveryCodes }) => onCodes(recoveryCodes),
  })
  if (!secret)
    return (
      <Group justify="space-between">
        <Text size="sm">
          Signing in asks for a code of your authenticator as well as the password.
        </Text>
        {begin.error && <Failure error={begin.error} />}
        <Button loading={begin.isPending} onClick={() => begin.mutate({})}>
          Set it up
        </Button>
      </Group>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        confirm.mutate({ code })
      }}
    >
      <Stack gap="sm">
        {confirm.error && <Failure error={confirm.error} />}
        <Text size="sm">
          Enter this secret in your authenticator, or{' '}
          <Anchor href={secret.otpauthUrl} size="sm">
            open it there
          </Anchor>
          , then the code it shows.
        </Text>
        <Code block>{secret.secret}</Code>
        <CodeField value={code} onChange={setCode} />
        <Group justify="flex-end">
          <Button type="submit" loading={confirm.isPending}>
            Confirm
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Remove() {
  const [code, setCode] = useState('')
  const remove = useDelete('/User/SecondFactor', {
    onDone: () => tellDone('The second factor is removed.'),
  })
  return (
    <Stack gap="sm">
      {remove.error && <Failure error={remove.error} />}
      <Group align="flex-end" justify="space-between">
        <CodeField value={code} onChange={setCode} />
        <Button
          variant="default"
          disabled={!code}
          loading={remove.isPending}
          onClick={() => remove.mutate({ Code: code })}
        >
          Remove it
        </Button>
      </Group>
    </Stack>
  )
}

type CodeProps = { value: string; onChange: (code: string) => void }

const CodeField = ({ value, onChange }: CodeProps) => (
  <TextInput
    label="Code"
    autoComplete="one-time-code"
    inputMode="numeric"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value.trim())}
  />
)
