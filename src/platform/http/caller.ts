import type { FastifyRequest } from 'fastify'
import { ownOf } from './network.ts'

/**
 * The name under which requests and fair shares are counted: a user, or, of a caller who is not
 * signed in, the address (of IPv6, its network).
 */
export const callerOf = ({ actor, ip }: Pick<FastifyRequest, 'actor' | 'ip'>): string =>
  actor ? `user ${actor.userID}` : `address ${ownOf(ip)}`
