import { BlockList, isIPv6 } from 'node:net'
import type { Actor } from '../../platform/actor.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { keyPattern, keyRefused, readAbsentKey, readKeyHolder } from '../api-key/sql.ts'
import { readSessionActor } from '../user/session.ts'
import type { Tokens } from '../user/token.ts'

/**
 * Finds the actor of an Authorization header, as the database knows them now. The answer is kept
 * for half a second: a change of a user or the end of a session or key reaches every node within a
 * second, and a busy caller costs two look-ups a second instead of one per request.
 */
const keptFor = 500
const mostKept = 10_000

type Known = { actor: Actor; allows: (address: string) => boolean }
/**
 * `until` is a time of the monotonic clock: after a wall clock was set back, an answer would be
 * kept for that much longer.
 */
type Kept = { until: number; known: Known | Promise<Known> }

type Options = {
  handle: Sql
  tokens: Tokens
  /** Records that an API key was used. */
  touch: (apiKeyID: number) => void
  /** Refuses a key that was not found before, if its address has used up its rate. */
  refuseGuess: (address: string) => void
}

export function authenticator({ handle, tokens, touch, refuseGuess }: Options) {
  const kept = new Map<string | undefined, Kept>()
  /** Keys that were found: whoever guesses keys at an address holds up nobody there who has one. */
  const seen = new Set<string>()

  return (authorization: string | undefined, address: string): Actor | Promise<Actor> => {
    const found = kept.get(authorization)
    const isFresh = found !== undefined && found.until > performance.now()
    const known = isFresh ? found.known : load(authorization, address)
    return known instanceof Promise
      ? known.then((one) => admitted(one, address))
      : admitted(known, address)
  }

  function load(authorization: string | undefined, address: string) {
    const key = keyPattern.exec(authorization ?? '')?.[1]
    const { known, longest } = key === undefined ? bySession(authorization) : byKey(key, address)
    forgetOld()
    if (kept.size >= mostKept) kept.clear()
    const entry: Kept = { until: performance.now() + Math.min(keptFor, longest), known }
    kept.delete(authorization) // entries stay in the order they were made
    kept.set(authorization, entry)
    known.then(
      (one) => {
        entry.known = one
      },
      // A failed look-up is not kept: the next request asks again.
      () => kept.delete(authorization),
    )
    return known
  }

  /**
   * Removes expired entries at once instead of at the limit: a caller gets a new token every twenty
   * minutes, and SQL statements of tens of kilobytes are cached for each actor.
   */
  function forgetOld() {
    const now = performance.now()
    for (const [authorization, { until }] of kept) {
      if (until > now) return
      kept.delete(authorization)
    }
  }

  function bySession(authorization: string | undefined) {
    const { sid, exp } = tokens.claims(authorization)
    const known = readSessionActor(handle, sid).then((actor) => ({ actor, allows: everywhere }))
    return { known, longest: exp * 1000 - Date.now() }
  }

  function byKey(key: string, address: string) {
    if (!seen.delete(key)) refuseGuess(address)
    const known = readKeyHolder(handle, key).then(({ actor, networks }) => {
      if (seen.size >= mostKept) seen.clear()
      seen.add(key)
      if (actor.apiKeyID !== undefined) touch(actor.apiKeyID)
      return { actor, allows: networks ? within(networks) : everywhere }
    })
    return { known, longest: keptFor }
  }
}

/**
 * The present rights of an actor who was admitted a while ago; refused if the session or key has
 * ended.
 */
export async function readAgain(handle: Sql, { apiKeyID, sessionID }: Actor): Promise<Actor> {
  if (apiKeyID === undefined) return readSessionActor(handle, sessionID)
  const actor = await readAbsentKey(handle, apiKeyID)
  if (!actor) throw keyRefused()
  return actor
}

const everywhere = () => true

function admitted({ actor, allows }: Known, address: string): Actor {
  if (!allows(address)) throw keyRefused()
  return actor
}

/**
 * Makes a test whether an address is in one of these networks; an IPv4 address also matches when it
 * is written as IPv6.
 */
function within(networks: readonly string[]) {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address: string) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
    return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
  }
}
