/**
 * The numbers of the advisory locks that all nodes know, in the space of one number: each its own.
 * They stay what they are: nodes of two versions may run beside each other.
 */
export const lockNumbers = {
  /** Two that start at once take turns to migrate. */
  migration: 7_215_001,
  /** One node seals the audit trail at a time. */
  seal: 7_215_002,
  /** Turns for all who write parent links. */
  parents: 7_215_003,
  /** While anyone holds it as a sharer, no content goes. */
  contents: 7_215_004,
  /** Two that make an encryption key take turns, so that each knows the other's. */
  newKey: 7_215_005,
  /** One node sums up ranges of blocks at a time. */
  blockRanges: 7_215_006,
} as const

/**
 * Locks of two numbers are in a space of their own, which no hash of one number can meet. The owner
 * of an embedded database has another (embedded/owner.ts).
 */
export const lockSpaces = {
  /** Turns for all who change users. */
  users: 7215,
  /** A product's period, by the product's id; the function `period_lock` names it, too. */
  periods: 7216,
} as const
