import { Modal, Text } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { connected } from '../shared/api/connection.ts'
import { RegistryError } from '../shared/api/error.ts'
import { resume, useSession } from '../shared/api/session.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Loading } from '../shared/view/Page.tsx'
import { Connection } from './Connection.tsx'
import { SignInForm, SignInPage } from './SignIn.tsx'

/** Few ever see it: it is fetched then. */
const EnrolFirst = lazy(async () => ({
  default: (await import('../settings/EnrolFirst.tsx')).EnrolFirst,
}))

/** Goes on with the session there is, as soon as the service can be asked. */
async function begin(): Promise<void> {
  try {
    await resume()
  } catch (error) {
    if (!(error instanceof RegistryError) || error.status !== 0) {
      tellFailure(error)
      return
    }
    await connected()
    return begin()
  }
}

/** Lets in who is signed in. A session that ends asks for the password over the page. */
export function Gate({ children }: { children: ReactNode }) {
  const { state, user } = useSession()
  useEffect(() => void begin(), [])
  if (state === 'starting')
    return (
      <>
        <Loading />
        <Connection />
      </>
    )
  if (state === 'out') return <SignInPage />
  if (user?.mustEnrol)
    return (
      <Suspense fallback={<Loading />}>
        <EnrolFirst />
      </Suspense>
    )
  return (
    <>
      {children}
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
