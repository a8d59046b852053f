import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { inPasswordSlot } from '../password/hash.ts'
import { changePassword, createUser, updateUser } from './save.ts'
import {
  Login,
  PasswordChange,
  Refresh,
  Tokens,
  User,
  UserInput,
  UserQuery,
  UserUpdate,
} from './schema.ts'
import { refresh, signIn, signOut, waitToSignIn } from './sign-in.ts'
import { readUsers } from './sql.ts'
import type { Tokens as TokenMaker } from './token.ts'

const beside = ['accessToken', 'refreshToken']

export type SignInDoor = {
  database: Sql
  tokens: TokenMaker
  nameKey: Buffer
  /** Aborted when the service is about to stop. */
  stopping: AbortSignal
}

export const userEndpoints = (door: SignInDoor): Endpoint[] => [
  ...signingIn(door),
  ...managing(door),
]

const signingIn = ({ database, tokens, nameKey, stopping }: SignInDoor): Endpoint[] => [
  writing({
    operation: 'POST /User/Login',
    name: 'login',
    event: null,
    access: 'public',
    summary: 'Sign in.',
    resource: 'User',
    body: Login,
    data: Tokens,
    beside,
    secret: true,
    inTurn: async (work, { body, address, caller }) => {
      const { username } = body as Login
      await waitToSignIn(database, { nameKey, address }, username, stopping)
      return inPasswordSlot(work, { caller })
    },
    write: ({ body, address }, tx) => signIn(tx, tokens, { nameKey, address }, body),
  }),
  writing({
    operation: 'POST /User/RefreshToken',
    name: 'refreshToken',
    event: null,
    access: 'public',
    summary: 'Trade a refresh token for a new pair of tokens.',
    resource: 'User',
    body: Refresh,
    data: Tokens,
    beside,
    secret: true,
    write: ({ body, headers }, tx) => refresh(tx, tokens, body, headers.authorization),
  }),
  writing({
    operation: 'POST /User/Logout',
    name: 'logout',
    event: null,
    access: 'signed-in',
    summary: 'Sign out: the tokens of this session end.',
    resource: 'User',
    data: nothing,
    write: ({ actor }, tx) => signOut(tx, actor),
  }),
]

const managing = ({ nameKey }: SignInDoor): Endpoint[] => [
  reading({
    operation: 'GET /User',
    access: 'User.Read',
    summary: 'Read one user, or a page of all.',
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
    summary: 'Change a user; what is left out stays.',
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
    summary: 'Change your own password, or with User.Write that of another.',
    resource: 'User',
    body: PasswordChange,
    data: nothing,
    inTurn: inPasswordSlot,
    write: ({ body, actor, address }, tx) => changePassword(tx, actor, { nameKey, address }, body),
  }),
]
