import { eventReference } from '../../ledger/biz-event/hand-off.ts'
import { accountReferences, externalIDs } from '../../ledger/biz-transaction/job.ts'
import type { Body } from '../../ledger/biz-transaction/legs.ts'
import { allNames } from '../../parties/biz-entity/names.ts'
import type { BizEntityInput } from '../../parties/biz-entity/schema.ts'
import { nameOf, namesAny } from '../../platform/sql/identify.ts'

/**
 * The accounts and external ids of postings, or all names that entities bring or refer to. `by` is
 * the way of naming accounts: rows that name accounts in different ways cannot be compared.
 */
export type Touches = { by: string; names: ReadonlySet<string> }

/** Undefined if unknown: only a notice knows the account, or accounts are named in two ways. */
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
 * Undefined if some accounts have a number in the file and others do not: a number that the
 * registry assigns must not be one that a row of a concurrent step brings.
 */
export function touchesOfEntities(entities: readonly BizEntityInput[]): Touches | undefined {
  const accounts = entities.flatMap((entity) => entity.accounts)
  const numbered = accounts.filter(({ accountNumber }) => accountNumber !== undefined).length
  if (numbered > 0 && numbered < accounts.length) return undefined
  return { by: numbered > 0 ? 'numbered' : 'unnumbered', names: new Set(allNames(entities)) }
}

/** Whether two sets of rows have nothing in common, so that their order does not matter. */
export function areApart(one: Touches | undefined, other: Touches | undefined): boolean {
  if (!one || !other || one.by !== other.by) return false
  const [few, many] = one.names.size < other.names.size ? [one, other] : [other, one]
  for (const name of few.names) if (many.names.has(name)) return false
  return true
}
