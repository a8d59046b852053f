import type { WrittenElsewhere } from '../../access/approval/elsewhere.ts'
import type { Actor } from '../../platform/actor.ts'
import { permissions } from '../../platform/permission.ts'
import { forbidden } from '../../platform/refusal.ts'
import { kinds, writtenBy } from './kinds.ts'
import type { Order } from './order.ts'

export type ActorOf = (who: {
  userID: number
  apiKeyID: number | null
}) => Promise<Actor | undefined>

/** What tells whether an import may go on. */
export type Rights = {
  actorOf: ActorOf
  /** Refuses what a rule lets wait for approval by now. */
  refuseAround: (written: WrittenElsewhere) => Promise<void>
}

/** Somebody at the command line holds the registry. */
const atCommandLine = (username: string): Actor => ({
  userID: 0,
  username,
  sessionID: 'cli',
  permissions: new Set(permissions),
  productIDs: null,
})

/** The rights of whoever ordered it may have changed since, and were no wider then. */
export async function authorise(actorOf: ActorOf, order: Order): Promise<Actor> {
  const { userID, apiKeyID, username, type, productIDs } = order
  const actor = userID === null ? atCommandLine(username) : await actorOf({ userID, apiKeyID })
  const isAllowed =
    actor?.permissions.has('Import.Write') && actor.permissions.has(kinds[type].needs)
  if (!actor || !isAllowed)
    throw forbidden('permission_missing', 'Who ordered the import may not do this any more.')
  if (productIDs === null) return actor
  const seen = actor.productIDs
  return { ...actor, productIDs: seen ? productIDs.filter((id) => seen.includes(id)) : productIDs }
}

/** Thrown where an import is to be taken anew: whoever ordered it sees other products by now. */
export class ScopeChanged extends Error {}

/**
 * An import may take hours, and what is taken from its user or key is taken at once, as a rule of
 * approval holds at once: asked with every step, and before the commit of all.
 */
export async function stillAuthorised(rights: Rights, order: Order, actor: Actor) {
  const now = await authorise(rights.actorOf, order)
  const { productIDs } = now
  if (listed(now) !== listed(actor)) throw new ScopeChanged()
  if (order.mode !== 'validate') await rights.refuseAround(writtenBy(order.type, productIDs))
}

const listed = ({ productIDs }: Actor) =>
  productIDs && [...productIDs].sort((one, other) => one - other).join()
