import type { Answer } from '../sql/render.ts'

/**
 * The envelope of every success: PostgreSQL rendered the data, so it is not read or written twice.
 * `beside` names fields of the data to repeat at the top level.
 */
export function successBody(
  { json, recordCount, message }: Answer,
  beside: readonly string[] = [],
) {
  const head = `"result":true,"message":${JSON.stringify(message ?? null)}`
  return `{${head},"recordCount":${recordCount},"data":${json}${repeated(json, beside)}}`
}

function repeated(json: string, fields: readonly string[]): string {
  if (fields.length === 0) return ''
  const data = JSON.parse(json) as Record<string, unknown>
  return fields.map((field) => `,"${field}":${JSON.stringify(data[field])}`).join('')
}
