import { Modal, Text } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { connected, connectionLost } from '../shared/api/connection.ts'
import { RegistryError } from '../shared/api/error.ts'
import { resume, type User, useSession } from '../shared/api/session.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Loading } from '../shared/view/Page.tsx'
import { Connection } from './Connection.tsx'
import { SignInForm, SignInPage } from './SignIn.tsx'

/** Few ever see it: it is fetched then. */
const EnrolFirst = lazy(async () => ({
  default: (await import('../settings/EnrolFirst.tsx')).EnrolFirst,
}))

/** No answer, or that of a service, or of a proxy before it, that cannot answer now. */
const isOutage = (error: unknown) =>
  error instanceof RegistryError && (error.status === 0 || error.status >= 500)

/** Goes on with the session there is, as soon as the service can be asked. */
async function begin(): Promise<void> {
  try {
    await resume()
  } catch (error) {
    if (!isOutage(error)) return void tellFailure(error)
    connectionLost()
    await connected()
    return begin()
  }
}

type Props = {
  /** Fetches what the first page needs: one that is drawn piece by piece is there a third later. */
  prepare: (user: User) => Promise<unknown>
  children: ReactNode
}

/** Lets in who is signed in. A session that ends asks for the password over the page. */
export function Gate({ prepare, children }: Props) {
  const { state, user } = useSession()
  const [isPrepared, setPrepared] = useState(false)
  const isIn = state === 'in' && !user?.mustEnrol
  useEffect(() => void begin(), [])
  useEffect(() => {
    if (isIn && user && !isPrepared) void prepare(user).then(() => setPrepared(true))
  }, [isIn, user, isPrepared, prepare])
  if (state === 'starting' || (isIn && !isPrepared))
    return (
      <>
        <Loading />
        <Connection />
      </>
    )
  if (state === 'out') return <SignInPage />
  return (
    <>
      {user?.mustEnrol ? (
        <Suspense fallback={<Loading />}>
          <EnrolFirst />
        </Suspense>
      ) : (
        children
      )}
      <Modal
        opened={state === 'over'}
        onClose={() => {}}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Your session has ended"
        zIndex={1000}
      >
        <Text size="sm" mb="sm">
          Sign in again to go on. Nothing you have entered is lost.
        </Text>
        <SignInForm username={user?.username} />
      </Modal>
    </>
  )
}
