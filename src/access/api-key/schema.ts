import { isIP } from 'node:net'
import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { type Permission, permissions } from '../../platform/permission.ts'
import {
  DateTime,
  Id,
  optional,
  requiredText,
  shown,
  textThat,
} from '../../platform/shape/fields.ts'

const PermissionName = Type.Unsafe<Permission>({ type: 'string', enum: permissions })
const Name = requiredText(200)

/** `203.0.113.0/24`, `2001:db8::/32`, or one address. */
const Network = textThat(
  50,
  isNetwork,
  'must be an address or a network such as 203.0.113.0/24 or 2001:db8::/32',
)

function isNetwork(text: string): boolean {
  const [address = '', prefix, more] = text.split('/')
  const version = isIP(address)
  // The zone of an address (fe80::1%eth0) means something on the caller's own machine only.
  if (version === 0 || address.includes('%') || more !== undefined) return false
  if (prefix === undefined) return true
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}

const granted = {
  name: Name,
  permissions: Type.Array(PermissionName, { maxItems: permissions.length }),
  productIDs: optional(Type.Array(Id, { maxItems: 1000 })),
  expires: optional(DateTime),
  allowedNetworks: optional(Type.Array(Network, { minItems: 1, maxItems: 100 })),
}

export const ApiKeyInput = Type.Object(granted, {
  $id: 'ApiKeyInput',
  description: 'What a program may do on your behalf. A key never has more rights than its user.',
  example: {
    name: 'Nightly prices',
    permissions: ['Investment.Read', 'Investment.Write'],
    productIDs: [1],
    expires: '2027-01-01T00:00:00Z',
    allowedNetworks: ['203.0.113.0/24'],
  },
})

const shownFields = {
  apiKeyID: Id,
  userID: Id,
  username: Type.String(),
  name: Name,
  permissions: Type.Array(PermissionName),
  productIDs: Type.Union([Type.Array(Id), Type.Null()]),
  expires: DateTime,
  allowedNetworks: Type.Union([Type.Array(Type.String()), Type.Null()]),
  createdDate: DateTime,
  lastUsedDate: DateTime,
}

const example = {
  apiKeyID: 7,
  userID: 2,
  username: 'ann',
  name: 'Nightly prices',
  permissions: ['Investment.Read', 'Investment.Write'],
  productIDs: [1],
  expires: '2027-01-01T00:00:00Z',
  allowedNetworks: ['203.0.113.0/24'],
  createdDate: '2026-01-01T00:00:00Z',
  lastUsedDate: null,
}

export const ApiKey = shown('ApiKey', shownFields, example)
export const NewApiKey = shown(
  'NewApiKey',
  {
    ...shownFields,
    key: Type.String({
      description: 'The key, for the Authorization header. It is shown only in this answer.',
    }),
  },
  { ...example, key: 'rk_the-key-itself' },
)

export const ApiKeyQuery = Type.Object({ ApiKeyID: optional(Id), UserID: optional(Id), ...paging })
export const ApiKeyEnd = Type.Object({ ApiKeyID: Id })

export type ApiKeyInput = Static<typeof ApiKeyInput>
export type ApiKeyQuery = Static<typeof ApiKeyQuery>
export type ApiKeyEnd = Static<typeof ApiKeyEnd>
