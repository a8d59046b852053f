/** Every resource a permission can be about. */
export const resources = [
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
] as const

export type Resource = (typeof resources)[number]
export type Permission = `${Resource}.${'Read' | 'Write'}`

export const permissions: readonly Permission[] = resources.flatMap((resource): Permission[] => [
  `${resource}.Read`,
  `${resource}.Write`,
])

const isAbout = (permission: Permission, ...about: Resource[]) =>
  about.some((resource) => permission.startsWith(`${resource}.`))

export const roles = {
  Administrator: permissions,
  Operator: permissions.filter((permission) => !isAbout(permission, 'User')),
  ReadOnly: permissions.filter(
    (permission) => permission.endsWith('.Read') && !isAbout(permission, 'User', 'Audit'),
  ),
} as const

export type Role = keyof typeof roles

/** Who may call an endpoint: anyone, anyone signed in, or holders of one permission. */
export type Access = 'public' | 'signed-in' | Permission
