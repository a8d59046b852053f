import type { Answer } from '../sql/render.ts'

/**
 * The envelope of every success: PostgreSQL rendered the data, so it is not read or written twice.
 * `repeats` names fields of the data that also stand at the top level.
 */
export function successBody(answer: Answer, repeats: readonly string[] = []) {
  const { json, recordCount, message, beside = {} } = answer
  const head = `"result":true,"message":${JSON.stringify(message ?? null)}`
  const rest = repeated(json, repeats) + members(Object.entries(beside))
  return `{${head},"recordCount":${recordCount},"data":${json}${rest}}`
}

function repeated(json: string, fields: readonly string[]): string {
  if (fields.length === 0) return ''
  const data = JSON.parse(json) as Record<string, unknown>
  return members(fields.map((field) => [field, data[field]]))
}

const members = (fields: [string, unknown][]) =>
  fields.map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('')
