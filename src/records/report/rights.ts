import type { Actor } from '../../platform/actor.ts'
import { forbidden, Refusal } from '../../platform/refusal.ts'
import { checkMayRead } from './kinds.ts'

/**
 * The present rights of the user or API key that ordered something; undefined once it has ended.
 */
export type ActorOf = (who: {
  userID: number
  apiKeyID: number | null
}) => Promise<Actor | undefined>

type Ordered = { typeID: number; productID: number; userID: number; apiKeyID: number | null }

/**
 * Refuses a report that its user or API key may not have any more: the rights may have changed
 * since the order.
 */
export async function authorise(actorOf: ActorOf, order: Ordered) {
  const { typeID, productID } = order
  const actor = await actorOf(order)
  const isSeen = actor?.productIDs === null || actor?.productIDs.includes(productID)
  if (!actor || !isSeen || !actor.permissions.has('Report.Write'))
    throw forbidden('scope', 'The user who ordered the report no longer has the rights for it.')
  checkMayRead(actor, typeID)
}

/**
 * Rethrows an error such as a lost database connection, which says nothing about anybody's rights.
 */
export const isAuthorised = (actorOf: ActorOf, order: Ordered): Promise<boolean> =>
  authorise(actorOf, order).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal && error.status < 500) return false
      throw error
    },
  )
