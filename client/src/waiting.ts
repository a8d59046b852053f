/** The answer to a write that an approval rule holds back: nothing of it is done yet. */
export type Waiting = {
  approvalID: number
  /** The requested values or changes by field, with secrets masked. */
  changes: unknown
  /** The rule that holds it back. */
  rule: object
  /** The secret that the write sets once it is approved, which only this answer shows. */
  secret?: string
}

/**
 * Whether the data of an answer say that the write waits for approval (202) instead of being done.
 */
export const isWaiting = (data: unknown): data is Waiting =>
  typeof data === 'object' && data !== null && 'approvalID' in data && 'rule' in data
