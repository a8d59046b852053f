import { BlockList, isIPv6 } from 'node:net'
import type { Actor } from '../../platform/actor.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { keyPattern, keyRefused, readAbsentKey, readKeyHolder } from '../api-key/sql.ts'
import { readSessionActor } from '../user/session.ts'
import type { Tokens } from '../user/token.ts'

/**
 * Who an Authorization header speaks for, as the database knows them now. The answer is kept for
 * half a second, so that a change of a user, the end of a session or of a key reaches every node
 * within a second, and a busy caller costs two looks at the database a second, not one per request.
 */
const keptFor = 500
const mostKept = 10_000

type Known = { actor: Actor; allows: (address: string) => boolean }
/** By a clock that nobody sets: one that was put back would keep an answer for as long. */
type Kept = { until: number; known: Known | Promise<Known> }

type Options = {
  handle: Sql
  tokens: Tokens
  /** Notes that a key was used. */
  touch: (apiKeyID: number) => void
}

export function authenticator({ handle, tokens, touch }: Options) {
  const kept = new Map<string | undefined, Kept>()

  return (authorization: string | undefined, address: string): Actor | Promise<Actor> => {
    const found = kept.get(authorization)
    const isFresh = found !== undefined && found.until > performance.now()
    const known = isFresh ? found.known : load(authorization)
    return known instanceof Promise
      ? known.then((one) => admitted(one, address))
      : admitted(known, address)
  }

  function load(authorization: string | undefined) {
    const key = keyPattern.exec(authorization ?? '')?.[1]
    const { known, longest } = key === undefined ? bySession(authorization) : byKey(key)
    forgetOld()
    if (kept.size >= mostKept) kept.clear()
    const entry: Kept = { until: performance.now() + Math.min(keptFor, longest), known }
    kept.delete(authorization) // the newest stand last
    kept.set(authorization, entry)
    known.then(
      (one) => {
        entry.known = one
      },
      // A failed look-up is not an answer: the next request asks again.
      () => kept.delete(authorization),
    )
    return known
  }

  /**
   * Who calls gets another token every twenty minutes, and an actor has statements made for it,
   * tens of kilobytes: those whose time is over do not stay until there are too many.
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

  function byKey(key: string) {
    const known = readKeyHolder(handle, key).then(({ actor, networks }) => {
      if (actor.apiKeyID !== undefined) touch(actor.apiKeyID)
      return { actor, allows: networks ? within(networks) : everywhere }
    })
    return { known, longest: keptFor }
  }
}

/** Whoever was let in a while ago, as they are by now; refused where that is over. */
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

/** Whether an address is in one of these networks; an IPv4 one also as IPv6 writes it. */
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
