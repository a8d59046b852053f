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

/** The checks that decide whether an import may go on. */
export type Rights = {
  actorOf: ActorOf
  /** Refuses writes that a rule of approval applies to by now. */
  refuseAround: (written: WrittenElsewhere) => Promise<void>
}

/** Whoever uses the command line controls the registry, and so has all rights. */
const atCommandLine = (username: string): Actor => ({
  userID: 0,
  username,
  sessionID: 'cli',
  permissions: new Set(permissions),
  productIDs: null,
})

/**
 * The actor of an import, with the present rights of the user or API key that ordered it, and no
 * products beyond those of the order.
 */
export async function authorise(actorOf: ActorOf, order: Order): Promise<Actor> {
  const { userID, apiKeyID, username, type, productIDs } = order
  const actor = userID === null ? atCommandLine(username) : await actorOf({ userID, apiKeyID })
  const isAllowed =
    actor?.permissions.has('Import.Write') && actor.permissions.has(kinds[type].needs)
  if (!actor || !isAllowed)
    throw forbidden(
      'permission_missing',
      'The user who ordered the import no longer has the rights for it.',
    )
  if (productIDs === null) return actor
  const seen = actor.productIDs
  return { ...actor, productIDs: seen ? productIDs.filter((id) => seen.includes(id)) : productIDs }
}

/** Thrown when the import must be taken anew, because its user now sees other products. */
export class ScopeChanged extends Error {}

/**
 * Checks the rights again. An import may take hours, but withdrawn rights and new rules of approval
 * take effect at once, so this is called with every step and before the final commit.
 */
export async function stillAuthorised(rights: Rights, order: Order, actor: Actor) {
  const now = await authorise(rights.actorOf, order)
  const { productIDs } = now
  if (listed(now) !== listed(actor)) throw new ScopeChanged()
  if (order.mode !== 'validate') await rights.refuseAround(writtenBy(order.type, productIDs))
}

const listed = ({ productIDs }: Actor) =>
  productIDs && [...productIDs].sort((one, other) => one - other).join()
