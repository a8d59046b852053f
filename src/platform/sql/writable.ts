import type pg from 'pg'
import { codeOf, readOnly } from './away.ts'
import { lend } from './lend.ts'

/**
 * Whether the server takes writes. A write that it refuses as read only is noticed, and only from
 * then on the server is asked: who looks after our health must not need a connection to write with.
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
        client.release(isRefused) // what is so from its beginning would stay so
      }
      return !isRefused
    },
  }
}
