/** Every resource that can be read and written; it has a Read and a Write permission. */
const readAndWritten = [
  'BizEntity',
  'Person',
  'Organisation',
  'Address',
  'Communication',
  'PaymentDetail',
  'Product',
  'Investment',
  'Distribution',
  'BizEvent',
  'BizTransaction',
  'Document',
  'Report',
  'User',
  'Audit',
  'Tax',
  'PaymentRun',
  'Webhook',
  'Approval',
  'Hold',
] as const

/**
 * Single permissions: for resources that are only read or only written, and for acts that need more
 * than Write.
 */
const alone = [
  'Event.Read',
  'Import.Write',
  'PaymentRun.Approve',
  'Product.Unlock',
  'ApprovalRule.Write',
] as const

/** The resources that an audit record can be about. */
export const resources = [...readAndWritten, 'Event', 'Import', 'ApprovalRule', 'ApiKey'] as const

export type Resource = (typeof resources)[number]
export type Permission =
  | `${(typeof readAndWritten)[number]}.${'Read' | 'Write'}`
  | (typeof alone)[number]

export const permissions: readonly Permission[] = [
  ...readAndWritten.flatMap((resource): Permission[] => [`${resource}.Read`, `${resource}.Write`]),
  ...alone,
]

const isAbout = (permission: Permission, ...about: Resource[]) =>
  about.some((resource) => permission.startsWith(`${resource}.`))

const kept: readonly Permission[] = ['PaymentRun.Approve', 'Product.Unlock']

export const roles = {
  Administrator: permissions,
  Operator: permissions.filter(
    (one) => !isAbout(one, 'User', 'Webhook', 'ApprovalRule') && !kept.includes(one),
  ),
  ReadOnly: permissions.filter(
    (one) => one.endsWith('.Read') && !isAbout(one, 'User', 'Audit', 'Webhook'),
  ),
} as const

export type Role = keyof typeof roles

/** Who may call an endpoint: anyone, anyone signed in, or holders of one permission. */
export type Access = 'public' | 'signed-in' | Permission

/** A user's permissions, from their role or from their own list. */
export const permissionsOf = (user: {
  role?: Role | null | undefined
  permissions?: readonly Permission[] | null | undefined
}): readonly Permission[] => (user.role ? roles[user.role] : (user.permissions ?? []))
