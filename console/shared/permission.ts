import type { Permission } from '../../src/platform/permission.ts'
import { type User, useSession } from './api/session.ts'

export type { Permission }

export const mayOf = (user: User | undefined) => (permission: Permission | null) =>
  permission === null || (user?.permissions.includes(permission) ?? false)

/** What the page hides; the service decides all the same. */
export const useMay = () => mayOf(useSession().user)
