import {
  accountReference,
  fromAccountReference,
  toAccountReference,
} from '../../parties/account/reference.ts'
import type { Actor } from '../../platform/actor.ts'
import type { Outcome, Write } from '../../platform/sql/unit-of-work.ts'
import type { PostingRequest } from './item.ts'
import type { Naming } from './naming.ts'

/** A request at the door, until its caller is told. */
export type Job = {
  write: Write
  actor: Actor
  request: PostingRequest
  /** How it names things, where it can be posted at once. */
  naming: Naming | undefined
  names: Names
  since: number
  resolve: (outcome: Outcome) => void
  reject: (error: unknown) => void
}

/** What a request may have to wait for, by name: accounts, external ids, its Idempotency-Key. */
export type Names = {
  all: readonly string[]
  /** Those of which one list can have only one; an account may be in it often. */
  single: readonly string[]
  /** Under which it waits for an account, and for its key. */
  first: string
  key: string | undefined
}

/** Where a body may name an account, and an external id of its own. */
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

/** An account by whatever name the request gives it; under two names it is locked, and no harm. */
export function namesOf({ userID, retry }: Write, { bodies }: PostingRequest): Names {
  const key = retry && `key ${userID} ${retry.key}`
  const [accounts, single]: [string[], string[]] = [[], key ? [key] : []]
  // By the few fields that a body has: to ask for each that it might have takes five times as long.
  for (const body of bodies)
    for (const [field, name] of Object.entries(body)) {
      const kind = kinds.get(field)
      if (kind && name !== undefined) (kind === 'id' ? single : accounts).push(`${kind} ${name}`)
    }
  const all = [...accounts, ...single]
  return { all, single, first: all[0] ?? '', key }
}
