import { isIPv4 } from 'node:net'

/**
 * The network of an address that one caller is likely to have to themselves: IPv4 /24 or IPv6 /64.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return isIPv4(plain) ? plain.replace(/\.\d+$/, '.0/24') : `${halfOf(plain)}/64`
}

/** The first four of the eight groups of an IPv6 address, in whichever form it is written. */
function halfOf(address: string): string {
  const [before = '', after = ''] = address.toLowerCase().split('::')
  const [left, right] = [before, after].map((part) => part.split(':').filter(Boolean))
  const between = address.includes('::') ? 8 - left!.length - right!.length : 0
  return [...left!, ...Array.from({ length: between }, () => '0'), ...right!]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
