import { eventReference } from '../../ledger/biz-event/hand-off.ts'
import { accountReferences, externalIDs } from '../../ledger/biz-transaction/job.ts'
import type { Body } from '../../ledger/biz-transaction/legs.ts'
import { allNames } from '../../parties/biz-entity/names.ts'
import type { BizEntityInput } from '../../parties/biz-entity/schema.ts'
import { nameOf, namesAny } from '../../platform/sql/identify.ts'

/**
 * What rows are about: the accounts and external ids of postings, all that entities bring or name.
 * `by` is how they name what they are about; of two ways nobody can tell what they have in common.
 */
export type Touches = { by: string; names: ReadonlySet<string> }

/** Undefined where it cannot be told: a notice knows the account, or an account has two names. */
export function touchesOf(bodies: readonly Body[]): Touches | undefined {
  const names = new Set<string>()
  let by: string | undefined
  for (const body of bodies) {
    if (namesAny(eventReference, body)) return undefined
    for (const reference of accountReferences) {
      const name = nameOf(reference, body)
      if (!name) continue
      by ??= name.column
      if (name.column !== by) return undefined
      names.add(`account ${name.value}`)
    }
    for (const field of externalIDs) if (body[field]) names.add(`id ${body[field]}`)
  }
  return { by: by ?? '', names }
}

/**
 * Undefined where some accounts come with a number and others are given one: it must not be one
 * that a row of a step under way brings.
 */
export function touchesOfEntities(entities: readonly BizEntityInput[]): Touches | undefined {
  const accounts = entities.flatMap((entity) => entity.accounts)
  const numbered = accounts.filter(({ accountNumber }) => accountNumber !== undefined).length
  if (numbered > 0 && numbered < accounts.length) return undefined
  return { by: numbered > 0 ? 'numbered' : 'unnumbered', names: new Set(allNames(entities)) }
}

/** Nothing of the one is about what the other is: it does not matter which of them goes first. */
export function areApart(one: Touches | undefined, other: Touches | undefined): boolean {
  if (!one || !other || one.by !== other.by) return false
  const [few, many] = one.names.size < other.names.size ? [one, other] : [other, one]
  for (const name of few.names) if (many.names.has(name)) return false
  return true
}
