import { codeOf, isFull } from './away.ts'

/**
 * What an operator is told of an error of the server that a setting can cause; undefined for other
 * errors.
 */
export function adviceOn(error: unknown): string | undefined {
  for (const one of [error, (error as Error).cause]) {
    const { message } = (one ?? {}) as Error
    if (isFull(one ?? {}))
      return (
        `the database has no connection left (${message}): raise max_connections, ` +
        'lower REGISTRY_DATABASE_CONNECTIONS, or end what else holds connections (pg_stat_activity)'
      )
    if (/^Connection terminated/.test(message))
      return (
        `the connection to the database was lost (${message}): check that the database runs, ` +
        'then try again'
      )
    const advice = adviceByCode[codeOf(one ?? {})]
    if (advice) return `${message}. ${advice}`
  }
  return undefined
}

const settings = 'DATABASE_URL, or REGISTRY_MIGRATION_DATABASE_URL where that is set'

/** The login, its password or its database are not the ones that the server knows. */
const adviceByCode: Record<string, string> = {
  '28000': `See the login in ${settings}.`,
  '28P01': `See the login and its password in ${settings}.`,
  '3D000': `Create the database, or see ${settings}.`,
}
