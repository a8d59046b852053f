import type { Actor } from '../../platform/actor.ts'
import { permissionsOf } from '../../platform/permission.ts'
import { forbidden, permissionMissing } from '../../platform/refusal.ts'
import type { LockedUser } from './sql.ts'

/**
 * Refuses to change a user, or their password, when the user has permissions that the caller lacks:
 * the caller could otherwise take over the user's rights.
 */
export function refuseBeyond(actor: Actor, user: LockedUser) {
  const beyond = beyondOwn(actor, user)
  if (beyond.length > 0)
    throw forbidden('beyond_own_rights', `This user has ${beyond.join(', ')}, which you do not.`)
}

export const beyondOwn = (actor: Actor, rights: Parameters<typeof permissionsOf>[0]) =>
  permissionsOf(rights).filter((permission) => !actor.permissions.has(permission))

/** Refuses callers without User.Write, for actions on other users. */
export function requireUserWrite({ permissions }: Actor) {
  if (!permissions.has('User.Write')) throw permissionMissing('User.Write')
}
