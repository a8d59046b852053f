import { useSyncExternalStore } from 'react'
import { connectionLost, watched } from './connection.ts'
import { readJson } from './decimals.ts'
import { type Envelope, noConnection, RegistryError } from './error.ts'

export type User = {
  userID: number
  username: string
  permissions: string[]
  productIDs: number[] | null
  /** A second factor is required and not set up yet; nothing else is possible before that. */
  mustEnrol?: boolean
}

/**
 * starting: not known yet; out: nobody is signed in; in: a user is signed in; over: the session
 * ended, and the password is asked for over the page, which stays as it is.
 */
export type SessionState = 'starting' | 'out' | 'in' | 'over'
type Session = { state: SessionState; user: User | undefined }
type Grant = {
  accessToken: string
  user: User
  secondFactorRequired?: boolean
  /**
   * The most rows that the registry returns at once; a node from before an upgrade leaves it out.
   */
  maxPageSize?: number
}

let session: Session = { state: 'starting', user: undefined }
/** Kept in memory only: it disappears with the page, and no other page can read it. */
let accessToken: string | undefined
let maxPageSize = Number.POSITIVE_INFINITY
/** The given number of rows, limited to the most that the registry returns at once. */
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

/** The envelope of an answer; empty where the answer comes from a proxy and is not JSON. */
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

/**
 * Runs session requests one at a time across all tabs: they share the cookie, and a refresh token
 * works only once.
 */
const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
  navigator.locks ? navigator.locks.request('registry-session', work) : work()

/**
 * Whether a grant belongs to a different user, who must not finish forms or waiting requests of
 * this one.
 */
const isAnother = ({ user }: Grant) =>
  session.user !== undefined && session.user.userID !== user.userID

/**
 * Renews the session and returns whether it continues; in another tab a different user may have
 * signed in.
 */
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

/** Signing out ends the session in all tabs, so that the next user does not see what they show. */
const tabs = new BroadcastChannel('registry-session')
tabs.onmessage = ({ data: userID }) => {
  if (session.state === 'in' && session.user?.userID === userID)
    change({ ...session, state: 'over' })
}

let renewal: Promise<void> | undefined

/**
 * Gets a new access token; once the session has ended, waits until the user has entered the
 * password.
 */
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
