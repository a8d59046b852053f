/** What is told of a write that a rule of approval has kept: nothing of it is done yet. */
export type Waiting = {
  approvalID: number
  /** What was asked or would change, by field; secrets blotted out. */
  changes: unknown
  /** The rule that holds it back. */
  rule: object
}

/** Whether the data of a write say that it waits for approval (202), rather than what was done. */
export const isWaiting = (data: unknown): data is Waiting =>
  typeof data === 'object' && data !== null && 'approvalID' in data && 'rule' in data
