import type { FastifyRequest } from 'fastify'

/**
 * The name under which fair shares are counted: a user, or the address of a caller who is not
 * signed in (of an IPv6 address, the first four groups as written).
 */
export const callerOf = ({ actor, ip }: Pick<FastifyRequest, 'actor' | 'ip'>): string =>
  actor ? `user ${actor.userID}` : `address ${addressOf(ip)}`

/** One customer of a provider has an IPv6 network of 2^64 addresses to call from. */
const addressOf = (ip: string) =>
  ip.includes(':') && !ip.includes('.') ? ip.split(':').slice(0, 4).join(':') : ip
