import { eventReference } from '../../ledger/biz-event/hand-off.ts'
import { accountReferences, externalIDs } from '../../ledger/biz-transaction/job.ts'
import type { Body } from '../../ledger/biz-transaction/legs.ts'
import { nameOf, namesAny } from '../../platform/sql/identify.ts'

/** The accounts and external ids that postings are about, and the column that names accounts. */
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

/** Nothing of the one is about what the other is: it does not matter which of them goes first. */
export function areApart(one: Touches | undefined, other: Touches | undefined): boolean {
  if (!one || !other || one.by !== other.by) return false
  const [few, many] = one.names.size < other.names.size ? [one, other] : [other, one]
  for (const name of few.names) if (many.names.has(name)) return false
  return true
}
