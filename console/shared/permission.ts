import type { Permission } from '../../src/platform/permission.ts'
import { type User, useSession } from './api/session.ts'

export type { Permission }

/** The permissions needed: one, all of several, or none. */
export type Needed = Permission | readonly Permission[] | null

/** The needed permissions that a user lacks. */
export const lackedBy = (user: User | undefined, needed: Needed): Permission[] =>
  [needed ?? []].flat().filter((permission) => !user?.permissions.includes(permission))

export const mayOf = (user: User | undefined) => (needed: Needed) =>
  lackedBy(user, needed).length === 0

/**
 * Whether the user has the permissions; it only hides parts of the page, as the service checks
 * every call.
 */
export const useMay = () => mayOf(useSession().user)
