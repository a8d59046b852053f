/**
 * The advisory locks with one number that all nodes share; each lock has its own number. They must
 * never change: nodes of two versions may run beside each other.
 */
export const lockNumbers = {
  /** Nodes that start at once take turns to migrate. */
  migration: 7_215_001,
  /** One node seals the audit trail at a time. */
  seal: 7_215_002,
  /** Writers of parent links take turns. */
  parents: 7_215_003,
  /** While a session holds this lock as shared (a backup), no file content is deleted. */
  contents: 7_215_004,
  /** Nodes that make an encryption key take turns, so that each knows the other's key. */
  newKey: 7_215_005,
  /** One node sums up ranges of blocks at a time. */
  blockRanges: 7_215_006,
  /** Workers that look for an import to do take turns. */
  nextImport: 7_215_007,
} as const

/**
 * Locks with two numbers: PostgreSQL keeps them in a separate space, where no hash of one number
 * can collide with them. The owner's lock of an embedded database is another (embedded/owner.ts).
 */
export const lockSpaces = {
  /** Writers of users take turns. */
  users: 7215,
  /**
   * A product's period, by the product's id; the SQL function `period_lock` uses this number, too.
   */
  periods: 7216,
} as const
