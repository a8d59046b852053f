import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { type Permission, permissions, type Role, roles } from '../../platform/permission.ts'
import {
  clearable,
  DateTime,
  Flag,
  Id,
  optional,
  requiredText,
  sensitive,
  shown,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { Code } from '../second-factor/schema.ts'

const Password = sensitive(
  Type.String({ minLength: 12, maxLength: 256, must: 'must have at least 12 characters' }),
)
const Username = requiredText(100)

/** Invisible characters, and blanks that look like the usual one. */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}/u
/** The username in audit records of commands at the command line. */
const commandLine = 'cli'

/** What is wrong with a new username: such names could be mistaken for another user's. */
export function wrongName(name: string): string | undefined {
  if (unseen.test(name)) return 'has a character that cannot be seen; write it without'
  if (name !== name.trim()) return 'begins or ends with a blank; write it without'
  if (name.normalize('NFKC').toLowerCase() === commandLine)
    return 'is what the audit trail calls the command line; choose another'
  return undefined
}
const NewUsername = requiredText(100, {
  check: ((value) => {
    const words = typeof value === 'string' && /\S/.test(value) ? wrongName(value) : undefined
    return words ? [{ words }] : []
  }) satisfies Check,
})
const RoleName = Type.Unsafe<Role>({ type: 'string', enum: Object.keys(roles) })
const PermissionName = Type.Unsafe<Permission>({ type: 'string', enum: permissions })

const rights = {
  role: optional(RoleName),
  permissions: optional(Type.Array(PermissionName, { maxItems: permissions.length })),
  productIDs: optional(Type.Array(Id, { maxItems: 1000 })),
}

/** The fields of a user other than rights and password. */
const own = {
  username: Username,
  isActive: optional(Flag),
}
/** The fields stored in app_user as they are given; save.ts adds the rights and the password. */
export const UserRecord = Type.Object({ userID: Id, ...own, role: rights.role })

export const UserInput = Type.Object(
  { ...own, username: NewUsername, password: Password, ...rights },
  {
    $id: 'UserInput',
    example: { username: 'ann', password: 'a long pass phrase', role: 'Operator', productIDs: [1] },
  },
)
export const UserUpdate = Type.Object(
  {
    userID: optional(Id),
    ...own,
    username: optional(Username),
    password: optional(Password),
    ...rights,
    productIDs: optional(clearable(rights.productIDs)),
  },
  {
    $id: 'UserUpdate',
    description:
      'Fields that are left out keep their values. Only `productIDs: null` gives access to all ' +
      'products.',
    example: { userID: 2, role: 'ReadOnly', isActive: true },
  },
)
export const User = shown(
  'User',
  {
    userID: Id,
    ...own,
    role: RoleName,
    permissions: Type.Union([Type.Array(PermissionName), Type.Null()]),
    productIDs: Type.Union([Type.Array(Id), Type.Null()]),
    createdDate: DateTime,
    lastLoginDate: DateTime,
  },
  {
    userID: 2,
    username: 'ann',
    role: 'Operator',
    permissions: null,
    productIDs: [1],
    isActive: true,
    createdDate: '2026-01-01T00:00:00Z',
    lastLoginDate: null,
  },
)
export const UserQuery = Type.Object({
  UserID: optional(Id),
  Username: optional(Username),
  ...paging,
})
export const PasswordChange = Type.Object(
  {
    userID: optional(Id),
    username: optional(Username),
    currentPassword: optional(sensitive(Type.String({ maxLength: 256 }))),
    newPassword: Password,
  },
  {
    $id: 'PasswordChange',
    description:
      'To change your own password, give the current one too. With User.Write you can change ' +
      'the password of another user.',
    example: { currentPassword: 'the old pass phrase', newPassword: 'a new long pass phrase' },
  },
)
export const Login = Type.Object(
  {
    username: Type.String({ maxLength: 256 }),
    password: sensitive(Type.String({ maxLength: 256 })),
    code: optional(Code),
  },
  { $id: 'Login', example: { username: 'admin', password: 'the printed password' } },
)
export const Refresh = Type.Object(
  { refreshToken: sensitive(Type.String({ maxLength: 256 })) },
  { $id: 'Refresh', example: { refreshToken: 'the refresh token of the last answer' } },
)
export const Tokens = Type.Object(
  {
    accessToken: Type.String(),
    refreshToken: Type.String(),
    expiresIn: Type.Integer({ description: 'Seconds.' }),
    tokenType: Type.String(),
    secondFactorRequired: optional(
      Type.Boolean({
        description: 'If true, these tokens can only be used to set up a second factor.',
      }),
    ),
  },
  {
    $id: 'Tokens',
    example: {
      accessToken: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
      refreshToken: 'an opaque text, to be used once',
      expiresIn: 1200,
      tokenType: 'Bearer',
    },
  },
)

export const Session = shown(
  'Session',
  {
    sessionID: Id,
    userID: Id,
    username: Username,
    createdDate: DateTime,
    lastUsedDate: DateTime,
    address: Type.String(),
    userAgent: Type.String(),
    isCurrent: Flag,
  },
  {
    sessionID: 11,
    userID: 2,
    username: 'ann',
    createdDate: '2026-01-01T00:00:00Z',
    lastUsedDate: '2026-01-01T00:20:00Z',
    address: '203.0.113.5',
    userAgent: 'Mozilla/5.0',
    isCurrent: true,
  },
)
export const SessionQuery = Type.Object({ UserID: optional(Id), ...paging })
export const SessionEnd = Type.Object({
  SessionID: optional(Id),
  UserID: optional(Id),
  All: optional(Flag),
})

export const Me = shown(
  'Me',
  {
    userID: Id,
    username: Username,
    role: RoleName,
    permissions: Type.Array(PermissionName),
    productIDs: Type.Union([Type.Array(Id), Type.Null()]),
    hasSecondFactor: Flag,
    secondFactorRequired: Flag,
    apiKeyID: Id,
    createdDate: DateTime,
    lastLoginDate: DateTime,
  },
  {
    userID: 2,
    username: 'ann',
    role: 'Operator',
    permissions: ['Product.Read'],
    productIDs: [1],
    hasSecondFactor: true,
    secondFactorRequired: false,
    apiKeyID: null,
    createdDate: '2026-01-01T00:00:00Z',
    lastLoginDate: '2026-01-01T00:20:00Z',
  },
)

export type SessionQuery = Static<typeof SessionQuery>
export type SessionEnd = Static<typeof SessionEnd>
export type UserInput = Static<typeof UserInput>
export type UserUpdate = Static<typeof UserUpdate>
export type UserQuery = Static<typeof UserQuery>
export type PasswordChange = Static<typeof PasswordChange>
export type Login = Static<typeof Login>
export type Refresh = Static<typeof Refresh>
