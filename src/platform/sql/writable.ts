import type pg from 'pg'
import { codeOf, readOnly } from './away.ts'
import { lend } from './lend.ts'

/**
 * Whether the server takes writes. The server is asked only after it has refused a write as read
 * only: the health check must not need a write connection in normal operation.
 */
export function watchWrites(writes: pg.Pool) {
  let isRefused = false
  return {
    notice(error: unknown): never {
      isRefused ||= codeOf((error as Error).cause ?? {}) === readOnly
      throw error
    },
    async takesWrites(): Promise<boolean> {
      if (!isRefused) return true
      const client = await lend(writes)
      try {
        const { rows } = await client.query('show transaction_read_only')
        isRefused = rows[0].transaction_read_only === 'on'
      } finally {
        client.release(isRefused) // a connection opened while read only would stay so: close it
      }
      return !isRefused
    },
  }
}
