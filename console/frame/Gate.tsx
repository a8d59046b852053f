import { Modal, Text } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { connected, connectionLost, part } from '../shared/api/connection.ts'
import { RegistryError } from '../shared/api/error.ts'
import { resume, type User, useSession } from '../shared/api/session.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Loading } from '../shared/view/Page.tsx'
import { Connection } from './Connection.tsx'
import { SignInForm, SignInPage } from './SignIn.tsx'

/** Few users ever see this page, so it is loaded only when needed. */
const EnrolFirst = lazy(async () => ({
  default: (await part(() => import('../settings/EnrolFirst.tsx'))).EnrolFirst,
}))

/** Whether there was no answer, or the service or a proxy before it cannot answer at present. */
const isOutage = (error: unknown) =>
  error instanceof RegistryError && (error.status === 0 || error.status >= 500)

/** Resumes the existing session as soon as the service can be reached. */
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
  /** Fetches the data of the first page; a first page drawn piece by piece takes a third longer. */
  prepare: (user: User) => Promise<unknown>
  children: ReactNode
}

/**
 * Shows the page to signed-in users. When the session ends, it asks for the password over the page.
 */
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
