import type { Permission } from '../../src/platform/permission.ts'
import { type User, useSession } from './api/session.ts'

export type { Permission }

/** One permission, all of several, or none. */
export type Needed = Permission | readonly Permission[] | null

/** Those of what is needed that a user does not have. */
export const lackedBy = (user: User | undefined, needed: Needed): Permission[] =>
  [needed ?? []].flat().filter((permission) => !user?.permissions.includes(permission))

export const mayOf = (user: User | undefined) => (needed: Needed) =>
  lackedBy(user, needed).length === 0

/** What the page hides; the service decides all the same. */
export const useMay = () => mayOf(useSession().user)
