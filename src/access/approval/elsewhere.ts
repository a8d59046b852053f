import { conflict } from '../../platform/refusal.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import type { Rule } from './match.ts'
import { activeRules } from './sql.ts'

/** What an import is about to write row by row, where no write can wait for approval. */
export type WrittenElsewhere = {
  /** The operations of requests that would write the same records. */
  operations: readonly string[]
  resources: readonly string[]
  /** Null means any product. */
  productIDs: readonly number[] | null
}

/** Refuses a write that bypasses the approval gate if an active rule may be about it. */
export async function refuseAround(handle: Sql, written: WrittenElsewhere) {
  const rules = await activeRules(handle)
  if (rules.some((rule) => concerns(rule, written)))
    throw cannotWait('an import', 'write the records one by one, or ')
}

/**
 * The refusal of a write that cannot wait for approval; `otherWay` names an alternative to
 * switching the rule off.
 */
export const cannotWait = (what: string, otherWay = '') =>
  conflict(
    'approval_needed',
    `An approval rule lets this wait for approval, and ${what} cannot wait: ${otherWay}` +
      'ask an administrator to switch the rule off meanwhile.',
  )

/**
 * Whether a rule concerns the write. As at the gate, a rule with an operation is about that
 * operation alone.
 */
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
