import { Alert, Button, Center, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import mark from '../mark.svg'
import { signIn, useSession } from '../shared/api/session.ts'

/** The form, for the first time on a page of its own and later over whatever was being done. */
export function SignInForm({ username: known }: { username?: string | undefined }) {
  const [username, setUsername] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    await signIn(username, password).catch((error: Error) => setProblem(error.message))
    setBusy(false)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {problem && (
          <Alert color="red" role="alert" p="xs">
            {problem}
          </Alert>
        )}
        <TextInput
          label="Username"
          autoComplete="username"
          required
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
          autoFocus={!known}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoFocus={Boolean(known)}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
        />
        <Button type="submit" loading={busy} mt={4} fullWidth>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

export function SignInPage() {
  const { user } = useSession()
  return (
    <Center component="main" mih="100dvh" p="md">
      <div className="card" style={{ width: 360, padding: 28 }}>
        <img src={mark} width={36} height={36} alt="" />
        <Title order={1} mt={10}>
          Sign in to the registry
        </Title>
        <Text size="sm" className="quiet" mb="md">
          Investors, units and distributions, exact to the cent.
        </Text>
        <SignInForm username={user?.username} />
      </div>
    </Center>
  )
}
