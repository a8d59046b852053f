import {
  accountReference,
  fromAccountReference,
  toAccountReference,
} from '../../parties/account/reference.ts'
import type { Actor } from '../../platform/actor.ts'
import type { Outcome, Write } from '../../platform/sql/unit-of-work.ts'
import type { PostingRequest } from './item.ts'
import type { Naming } from './naming.ts'

/** A posting request inside the door (door.ts), until its caller is answered. */
export type Job = {
  write: Write
  actor: Actor
  request: PostingRequest
  /** How the request names things; undefined where it cannot be posted at once. */
  naming: Naming | undefined
  names: Names
  since: number
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}

/** What a request may have to wait for, by name: accounts, external ids, its Idempotency-Key. */
export type Names = {
  all: readonly string[]
  /** The names that one list may have only once; an account may occur in it several times. */
  single: readonly string[]
  /** The name under which it waits for an account; `key` is the one for its Idempotency-Key. */
  first: string
  key: string | undefined
}

/** How a body may name an account; `externalIDs` are the fields for external ids of its own. */
export const accountReferences = [accountReference, fromAccountReference, toAccountReference]
export const externalIDs = [
  'externalBizTransactionId',
  'fromExternalBizTransactionId',
  'toExternalBizTransactionId',
] as const
const accountFields = accountReferences.flatMap(({ fields }) => fields)
const kinds = new Map<string, 'account' | 'id'>([
  ...accountFields.map((field) => [field, 'account'] as const),
  ...externalIDs.map((field) => [field, 'id'] as const),
])

/**
 * Accounts are taken by the name that the request uses. One account under two names may get into
 * two lists at once, which does no harm: one of them finds it locked.
 */
export function namesOf({ userID, retry }: Write, { bodies }: PostingRequest): Names {
  const key = retry && `key ${userID} ${retry.key}`
  const [accounts, single]: [string[], string[]] = [[], key ? [key] : []]
  // Loops over the few fields of a body: asking for each possible field takes five times as long.
  for (const body of bodies)
    for (const [field, name] of Object.entries(body)) {
      const kind = kinds.get(field)
      if (kind && name !== undefined) (kind === 'id' ? single : accounts).push(`${kind} ${name}`)
    }
  const all = [...accounts, ...single]
  return { all, single, first: all[0] ?? '', key }
}
