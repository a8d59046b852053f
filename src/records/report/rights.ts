import type { Actor } from '../../platform/actor.ts'
import { forbidden, Refusal } from '../../platform/refusal.ts'
import { checkMayRead } from './kinds.ts'

/** Whoever ordered something, as they are now: a user, or one of their API keys. */
export type ActorOf = (who: {
  userID: number
  apiKeyID: number | null
}) => Promise<Actor | undefined>

type Ordered = { typeID: number; productID: number; userID: number; apiKeyID: number | null }

/** The rights of whoever ordered it may have changed since. */
export async function authorise(actorOf: ActorOf, order: Ordered) {
  const { typeID, productID } = order
  const actor = await actorOf(order)
  const isSeen = actor?.productIDs === null || actor?.productIDs.includes(productID)
  if (!actor || !isSeen || !actor.permissions.has('Report.Write'))
    throw forbidden('scope', 'Who ordered the report may not have it any more.')
  checkMayRead(actor, typeID)
}

/** A database that is away just then says nothing of anybody's rights. */
export const isAuthorised = (actorOf: ActorOf, order: Ordered): Promise<boolean> =>
  authorise(actorOf, order).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal && error.status < 500) return false
      throw error
    },
  )
