import type { Actor } from '../../platform/actor.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { readAbsentKey } from '../api-key/sql.ts'
import { readAbsent } from '../user/session.ts'

/**
 * Whoever asked for work that is done while they are away, as they are now: a user, or one of their
 * API keys, which may do what it may itself, and nothing once it has ended.
 */
export const readAbsentCaller = (
  handle: Sql,
  { userID, apiKeyID }: { userID: number; apiKeyID: number | null },
): Promise<Actor | undefined> =>
  apiKeyID === null ? readAbsent(handle, userID) : readAbsentKey(handle, apiKeyID)
