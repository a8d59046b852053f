import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { BlockList, isIP } from 'node:net'
import { invalid } from '../../platform/refusal.ts'

/** An IP address that a host name resolves to. */
export type Address = { address: string; family: number }
export type Resolve = (host: string) => Promise<Address[]>

/**
 * Resolves a name as every program of this machine does (`lookup`), but only once name servers are
 * known to answer for it. With silent name servers `lookup` blocks for long and Node runs only two
 * at a time, so one dead name would hold up all others, the database's too. Some name servers never
 * answer for one address family: then the addresses of the other family are used as they were
 * answered.
 */
export const resolveBy =
  (servers?: readonly string[]): Resolve =>
  async (host) => {
    const told = (await isNamedHere(host)) ? [] : await askServers(host, servers)
    if (!told.includes(undefined)) return lookup(host, { all: true, verbatim: true })
    const found = told.flatMap((addresses = []) => addresses)
    if (found.length === 0)
      throw Object.assign(new Error('No name server answers.'), { code: 'EAI_AGAIN' })
    return found
  }

export const resolveHost = resolveBy()

/** Whether /etc/hosts lists the name, in which case no name server is asked. */
async function isNamedHere(host: string) {
  const hosts = await readFile('/etc/hosts', 'utf8').catch(() => '')
  return hosts.split('\n').some((line) => {
    const [, ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    return names.includes(host)
  })
}

/** Milliseconds to wait for a first answer, and for the other one once there are addresses. */
const [longestSilence, longestRest] = [5_000, 1_000]

/** The addresses of each family; undefined for a family that no name server answers for. */
async function askServers(host: string, servers: readonly string[] | undefined) {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  const giveUp = () => resolver.cancel()
  const timers = [setTimeout(giveUp, longestSilence)]
  const asked = [resolver.resolve4(host), resolver.resolve6(host)].map(async (query, place) => {
    const found = await query.catch(unlessSilent)
    if (found?.length) timers.push(setTimeout(giveUp, longestRest))
    return found?.map((address): Address => ({ address, family: place === 0 ? 4 : 6 }))
  })
  return Promise.all(asked).finally(() => timers.forEach(clearTimeout))
}

/** An answer that the name does not exist is an answer, not silence. */
const unlessSilent = ({ code }: { code?: string }) =>
  code === 'ETIMEOUT' || code === 'ECANCELLED' ? undefined : []

/**
 * Addresses that no webhook may reach: this machine, its networks, and addresses that are not
 * public.
 */
const closed = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  closed.addSubnet(network, prefix, 'ipv4')

/**
 * Of IPv6, only the global unicast range is open, without its parts that embed IPv4 addresses or
 * are reserved.
 */
const open = new BlockList()
open.addSubnet('2000::', 3, 'ipv6')
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  closed.addSubnet(network, prefix, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const kindOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

const isLoopback = (address: string) => loopback.check(address, kindOf(address))

/** Whether an address is one of the public internet. */
export const isPublic = (address: string) => {
  const kind = kindOf(address)
  return !closed.check(address, kind) && (kind === 'ipv4' || open.check(address, kind))
}

/** Whether a text is a URL that a webhook may have, as far as can be told without resolving it. */
export function isWebAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocalName(hostOf(url)))
}

/** The host as resolvers take it: IPv6 without its brackets. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')

const isLocalName = (host: string) => host === 'localhost' || (isIP(host) !== 0 && isLoopback(host))

export class Forbidden extends Error {}

/**
 * Returns the address to call once it is found to be allowed. The caller connects to this address
 * and does not resolve the name again, since a second answer could differ.
 */
export async function allowedAddress(
  url: URL,
  allowLocal: boolean,
  resolve: Resolve,
): Promise<Address> {
  const host = hostOf(url)
  const family = isIP(host)
  const found = family ? [{ address: host, family }] : await resolve(host)
  if (found.length === 0) throw new Forbidden('The name has no address.')
  const mayBeLocal = allowLocal && found.every(({ address }) => isLoopback(address))
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBeLocal))
    throw new Forbidden('Only https is allowed.')
  if (!mayBeLocal && !found.every(({ address }) => isPublic(address)))
    throw new Forbidden('The name stands for an address that is not public.')
  return found[0]!
}

/** Refuses a URL that is forbidden whatever its name resolves to. */
export function refuseAddress(text: string, allowLocal: boolean) {
  const url = new URL(text)
  const host = hostOf(url)
  const isLocal = isLocalName(host)
  const isClosed = isIP(host) !== 0 && !isPublic(host)
  if (isLocal ? allowLocal : url.protocol === 'https:' && !isClosed) return
  throw invalid('invalid_value', 'url must be an https address of the public internet.', 'url')
}
