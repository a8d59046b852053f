import type { IncomingHttpHeaders } from 'node:http'
import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { inPasswordSlot } from '../password/hash.ts'
import { Confirmation, Enrolment, FactorRemoval, RecoveryCodes } from '../second-factor/schema.ts'
import { confirmFactor, deleteFactor, enrolFactor } from './factor.ts'
import { changePassword, createUser, updateUser } from './save.ts'
import {
  Login,
  Me,
  PasswordChange,
  Refresh,
  Session,
  SessionEnd,
  SessionQuery,
  Tokens,
  User,
  UserInput,
  UserQuery,
  UserUpdate,
} from './schema.ts'
import { endSessions, readMe, readSessions } from './sessions.ts'
import { type Caller, type Desk, refresh, signIn, signOut, waitToSignIn } from './sign-in.ts'
import { readUsers } from './sql.ts'

const beside = ['accessToken', 'refreshToken']

export type SignInDoor = Desk & {
  database: Sql
  nameKey: Buffer
  /** Aborted when the service is about to stop. */
  stopping: AbortSignal
}

type From = { address: string; headers: IncomingHttpHeaders }

export const userEndpoints = (door: SignInDoor): Endpoint[] => [
  ...signInEndpoints(door),
  ...sessionEndpoints,
  ...factorEndpoints(door),
  ...userRecordEndpoints(door),
]

const callerOf = (nameKey: Buffer, { address, headers }: From): Caller => ({
  nameKey,
  address,
  userAgent: headers['user-agent'],
})

const signInEndpoints = (door: SignInDoor): Endpoint[] => [
  writing({
    operation: 'POST /User/Login',
    name: 'login',
    event: null,
    access: 'public',
    summary: 'Sign in.',
    description: 'Every sign-in is checked anew: an Idempotency-Key has no effect.',
    resource: 'User',
    body: Login,
    data: Tokens,
    beside,
    secret: true,
    // A kept answer would hand out tokens again after the user changed their password or was
    // deactivated.
    neverReplayed: true,
    inTurn: async (work, request) => {
      const { username } = request.body as Login
      await waitToSignIn(door.database, callerOf(door.nameKey, request), username, door.stopping)
      return inPasswordSlot(work, request)
    },
    write: (request, tx) => signIn(tx, door, callerOf(door.nameKey, request), request.body),
  }),
  writing({
    operation: 'POST /User/RefreshToken',
    name: 'refreshToken',
    event: null,
    access: 'public',
    summary: 'Exchange a refresh token for a new pair of tokens.',
    resource: 'User',
    body: Refresh,
    data: Tokens,
    beside,
    secret: true,
    write: (request, tx) =>
      refresh(
        tx,
        door,
        callerOf(door.nameKey, request),
        request.body,
        request.headers.authorization,
      ),
  }),
  writing({
    operation: 'POST /User/Logout',
    name: 'logout',
    event: null,
    access: 'signed-in',
    peopleOnly: true,
    whileEnrolling: true,
    summary: 'Sign out. The tokens of this session become invalid.',
    resource: 'User',
    data: nothing,
    write: ({ actor }, tx) => signOut(tx, actor),
  }),
]

const sessionEndpoints: Endpoint[] = [
  reading({
    operation: 'GET /User/Me',
    access: 'signed-in',
    whileEnrolling: true,
    summary: 'Read your own user, your permissions and the products that you can see.',
    data: Me,
    read: ({ actor }, handle) => readMe(handle, actor),
  }),
  reading({
    operation: 'GET /User/Session',
    access: 'signed-in',
    peopleOnly: true,
    summary:
      'List your sessions: when and from where you are signed in. With User.Read you can also ' +
      'list those of other users.',
    query: SessionQuery,
    data: arrayOf(Session),
    read: ({ query, actor }, handle) => readSessions(handle, actor, query),
  }),
  writing({
    operation: 'DELETE /User/Session',
    access: 'signed-in',
    peopleOnly: true,
    summary:
      'End one session, or all sessions of a user. Ending those of other users needs User.Write.',
    resource: 'User',
    event: null,
    query: SessionEnd,
    data: nothing,
    write: ({ query, actor }, tx) => endSessions(tx, actor, query),
  }),
]

const aboutFactor = {
  access: 'signed-in',
  peopleOnly: true,
  whileEnrolling: true,
  resource: 'User',
} as const

const factorEndpoints = (door: SignInDoor): Endpoint[] => [
  writing({
    ...aboutFactor,
    event: null, // the unconfirmed secret has no effect yet
    operation: 'POST /User/SecondFactor',
    summary:
      'Start to set up a second factor. The answer has the secret for an authenticator app, and ' +
      'shows it only this once.',
    data: Enrolment,
    secret: true,
    write: ({ actor }, tx) => enrolFactor(tx, actor, door.factors),
  }),
  writing({
    ...aboutFactor,
    event: 'user.updated',
    operation: 'POST /User/SecondFactor/Confirm',
    summary:
      'Confirm a second factor with its first code. The answer has ten recovery codes, and ' +
      'shows them only this once.',
    body: Confirmation,
    data: RecoveryCodes,
    secret: true,
    write: (request, tx) =>
      confirmFactor(tx, request.actor, door.factors, callerOf(door.nameKey, request), request.body),
  }),
  writing({
    access: 'signed-in',
    ofOthers: 'User.Write',
    peopleOnly: true,
    resource: 'User',
    event: 'user.updated',
    operation: 'DELETE /User/SecondFactor',
    summary: 'Remove your own second factor, with a code, or with User.Write that of another user.',
    query: FactorRemoval,
    data: nothing,
    write: (request, tx) =>
      deleteFactor(tx, request.actor, door, callerOf(door.nameKey, request), request.query),
  }),
]

const userRecordEndpoints = ({ nameKey }: SignInDoor): Endpoint[] => [
  reading({
    operation: 'GET /User',
    access: 'User.Read',
    summary: 'Read one user, or list all users page by page.',
    query: UserQuery,
    data: arrayOf(User),
    etag: { by: ['UserID', 'Username'], without: ['lastLoginDate'] },
    read: ({ query, actor }, handle) => readUsers(handle, actor, query),
  }),
  writing({
    operation: 'POST /User',
    access: 'User.Write',
    summary: 'Create a user.',
    resource: 'User',
    body: UserInput,
    data: arrayOf(User),
    inTurn: inPasswordSlot,
    write: ({ body, actor }, tx) => createUser(tx, actor, body),
  }),
  writing({
    operation: 'PUT /User',
    access: 'User.Write',
    summary: 'Change a user. Fields that are left out keep their values.',
    resource: 'User',
    body: UserUpdate,
    data: arrayOf(User),
    inTurn: inPasswordSlot,
    write: ({ body, actor }, tx) => updateUser(tx, actor, nameKey, body),
  }),
  writing({
    operation: 'PUT /User/Password',
    name: 'changePassword',
    event: 'user.updated',
    access: 'signed-in',
    ofOthers: 'User.Write',
    peopleOnly: true,
    summary: 'Change your own password, or with User.Write that of another user.',
    resource: 'User',
    body: PasswordChange,
    data: nothing,
    inTurn: inPasswordSlot,
    write: ({ body, actor, address }, tx) => changePassword(tx, actor, { nameKey, address }, body),
  }),
]
