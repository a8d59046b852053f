import type { FastifyRequest } from 'fastify'

/** Who shares: users by themselves, strangers by their address (IPv6: by the network of it). */
export const callerOf = ({ actor, ip }: Pick<FastifyRequest, 'actor' | 'ip'>): string =>
  actor ? `user ${actor.userID}` : `address ${addressOf(ip)}`

/** One customer of a provider has a network of 2^64 addresses of IPv6 to call from. */
const addressOf = (ip: string) =>
  ip.includes(':') && !ip.includes('.') ? ip.split(':').slice(0, 4).join(':') : ip
