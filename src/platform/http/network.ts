import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/**
 * The network of an address that one caller is likely to have to themselves: IPv4 /24 or IPv6 /64.
 */
export function networkOf(address: string): string {
  const own = ownOf(address)
  return isIPv4(own) ? own.replace(/\.\d+$/, '.0/24') : own
}

/**
 * What one caller surely has to themselves: an IPv4 address, or an IPv6 network of 2^64 addresses,
 * which is what a provider gives to one customer.
 */
export function ownOf(address: string): string {
  const plain = plainOf(address)
  return isIPv6(plain) ? `${halfOf(plain)}/64` : plain
}

/** The one form of an address that may be written in several; IPv4 written as IPv6 is IPv4. */
const plainOf = (address: string) =>
  isIPv6(address)
    ? new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '')
    : address

/** The first four of the eight groups of an IPv6 address. */
function halfOf(plain: string): string {
  const [left, right = []] = plain.split('::').map((part) => part.split(':').filter(Boolean))
  const between = plain.includes('::') ? 8 - left!.length - right.length : 0
  const zeros = Array.from({ length: between }, () => '0')
  return [...left!, ...zeros, ...right].slice(0, 4).join(':')
}
