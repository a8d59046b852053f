import { conflict } from '../../platform/refusal.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import type { Rule } from './match.ts'
import { activeRules } from './sql.ts'

/** What is going to be written where nothing can wait: an import, row by row. */
export type WrittenElsewhere = {
  /** What requests of the same would be. */
  operations: readonly string[]
  resources: readonly string[]
  /** Null: any. */
  productIDs: readonly number[] | null
}

/** Refuses a way past the gate, where a rule may be about what is written on it. */
export async function refuseAround(handle: Sql, written: WrittenElsewhere) {
  const rules = await activeRules(handle)
  if (rules.some((rule) => concerns(rule, written)))
    throw cannotWait('an import', 'write the records one by one, or ')
}

/** Who cannot wait may have another way, beside that of an administrator. */
export const cannotWait = (what: string, otherWay = '') =>
  conflict(
    'approval_needed',
    `There is a rule that lets this wait for approval, and ${what} cannot wait: ${otherWay}` +
      'let an administrator switch the rule off for it.',
  )

/** A rule about an operation is about nothing else, as at the gate. */
function concerns(rule: Rule, { operations, resources, productIDs }: WrittenElsewhere): boolean {
  const [named, about] = rule.operation
    ? [operations, rule.operation]
    : [resources, rule.resource ?? '']
  const isOther = productIDs !== null && !rule.productIDs?.some((id) => productIDs.includes(id))
  return (
    named.some((one) => one.toLowerCase() === about.toLowerCase()) &&
    (rule.productIDs === null || !isOther)
  )
}
