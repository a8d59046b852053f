import type { Actor } from '../../platform/actor.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { readAbsentKey } from '../api-key/sql.ts'
import { readAbsent } from '../user/session.ts'

/**
 * The present rights of the user or API key that asked for work which runs later. A key's work has
 * the key's own rights, and none once the key has ended.
 */
export const readAbsentCaller = (
  handle: Sql,
  { userID, apiKeyID }: { userID: number; apiKeyID: number | null },
): Promise<Actor | undefined> =>
  apiKeyID === null ? readAbsent(handle, userID) : readAbsentKey(handle, apiKeyID)
