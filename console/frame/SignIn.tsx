import { Alert, Button, Center, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import mark from '../mark.svg'
import { RegistryError } from '../shared/api/error.ts'
import { signIn, useSession } from '../shared/api/session.ts'

const wantsCode = (error: Error) =>
  error instanceof RegistryError && error.problems.some(({ code }) => code === 'code_required')

/** The sign-in form, on its own page at first and later over the page in use. */
export function SignInForm({ username: known }: { username?: string | undefined }) {
  const [username, setUsername] = useState(known ?? '')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [asksCode, setAsksCode] = useState(false)
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    await signIn(username, password, code).catch((error: Error) => {
      const first = !asksCode && wantsCode(error)
      setAsksCode(asksCode || first)
      setProblem(first ? '' : error.message)
    })
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
          // Over a page, focus the password: a user who types at once must not type it in clear
          // text.
          data-autofocus={known ? true : undefined}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
        />
        {asksCode && (
          <TextInput
            label="Code of your second factor"
            description="Of your authenticator, or a recovery code."
            autoComplete="one-time-code"
            required
            value={code}
            onChange={(event) => setCode(event.currentTarget.value.trim())}
            autoFocus
          />
        )}
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
          Investors, units and money, exact to the cent.
        </Text>
        <SignInForm username={user?.username} />
      </div>
    </Center>
  )
}
