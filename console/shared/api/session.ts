import { useSyncExternalStore } from 'react'
import { connectionLost, watched } from './connection.ts'
import { readJson } from './decimals.ts'
import { type Envelope, noConnection, RegistryError } from './error.ts'

export type User = {
  userID: number
  username: string
  permissions: string[]
  productIDs: number[] | null
  /** A second factor is asked for and there is none yet: nothing else can be done before. */
  mustEnrol?: boolean
}

/**
 * starting: it is not known yet; out: nobody is signed in; in: somebody is; over: somebody was,
 * and is asked for the password over the page, which stays as it is.
 */
export type SessionState = 'starting' | 'out' | 'in' | 'over'
type Session = { state: SessionState; user: User | undefined }
type Grant = {
  accessToken: string
  user: User
  secondFactorRequired?: boolean
  /** How many rows this registry gives at once; a node of before an upgrade does not say. */
  maxPageSize?: number
}

let session: Session = { state: 'starting', user: undefined }
/** In memory alone: it is gone with the page, and no other page can read it. */
let accessToken: string | undefined
let maxPageSize = Number.POSITIVE_INFINITY
/** So many rows of a list, or as many as there are at once. */
export const atOnce = (rows: number) => Math.min(rows, maxPageSize)
const listeners = new Set<() => void>()

function change(next: Session) {
  session = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useSession = () => useSyncExternalStore(subscribe, () => session)
export const currentToken = () => accessToken

async function ask(method: 'POST' | 'PUT' | 'DELETE', body?: object): Promise<Grant | null> {
  const answer = await watched((signal) =>
    fetch('/console/session', {
      method,
      headers: { Version: '2.0', ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    }),
  ).catch(() => {
    connectionLost()
    throw noConnection()
  })
  const envelope = envelopeOf(await answer.text())
  if (!answer.ok) {
    const words = envelope.message || `The service answered ${answer.status} without a reason.`
    const requestID = answer.headers.get('x-request-id')
    throw new RegistryError(answer.status, words, envelope.errors ?? [], requestID)
  }
  return envelope.data ?? null
}

/** Nothing of it where the answer is not the service's but that of a proxy before it. */
function envelopeOf(text: string): Partial<Envelope<Grant | null>> {
  try {
    return readJson(text) as Envelope<Grant | null>
  } catch {
    return {}
  }
}

function accept({ user, secondFactorRequired: mustEnrol = false, ...granted }: Grant) {
  accessToken = granted.accessToken
  maxPageSize = granted.maxPageSize ?? Number.POSITIVE_INFINITY
  change({ state: 'in', user: { ...user, mustEnrol } })
}

/** Two pages of one browser share the cookie, and a refresh token works once: one at a time. */
const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
  navigator.locks ? navigator.locks.request('registry-session', work) : work()

/** What one has begun is not another's to finish, in a form or in a request that waits. */
const isAnother = ({ user }: Grant) =>
  session.user !== undefined && session.user.userID !== user.userID

/** Whether there is a session to go on with: in another tab somebody else may have signed in. */
export async function resume(): Promise<boolean> {
  const grant = await inTurn(() => ask('PUT'))
  const goesOn = grant !== null && !isAnother(grant)
  if (goesOn) accept(grant)
  else if (session.state === 'starting') change({ state: 'out', user: undefined })
  return goesOn
}

export async function signIn(username: string, password: string, code: string) {
  const grant = await inTurn(() => ask('POST', { username, password, ...(code && { code }) }))
  if (!grant) return
  if (isAnother(grant)) window.location.reload()
  else accept(grant)
}

export async function signOut() {
  await inTurn(() => ask('DELETE'))
  tabs.postMessage(session.user?.userID)
  window.location.assign('/console/')
}

/** Who signs out does so in all tabs: what they show is not the next one's to see. */
const tabs = new BroadcastChannel('registry-session')
tabs.onmessage = ({ data: userID }) => {
  if (session.state === 'in' && session.user?.userID === userID)
    change({ ...session, state: 'over' })
}

let renewal: Promise<void> | undefined

/** A new access token; where the session is over, one that somebody's password brings. */
export function renew(): Promise<void> {
  renewal ??= resume()
    .then((went) => (went ? undefined : passwordAsked()))
    .finally(() => {
      renewal = undefined
    })
  return renewal
}

function passwordAsked(): Promise<void> {
  change({ ...session, state: 'over' })
  return new Promise((resolve) => {
    const stop = subscribe(() => {
      if (session.state !== 'in') return
      stop()
      resolve()
    })
  })
}
