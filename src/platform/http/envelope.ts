import type { Answer, Shown } from '../sql/render.ts'

/**
 * The envelope of every success: PostgreSQL rendered the data, so it is not read or written twice.
 * `repeats` names fields of the data that also stand at the top level.
 */
export function successBody({ json, ...answer }: Answer, repeats: readonly string[] = []): string {
  const [head, tail] = envelopeOf(answer, repeated(json, repeats))
  return head + json + tail
}

/** The same of what may be bytes: a page stays those that it is, with others around it. */
export function shownBody(
  { json, ...answer }: Shown,
  repeats: readonly string[] = [],
): string | Buffer[] {
  if (typeof json === 'string') return successBody({ json, ...answer }, repeats)
  const [head, tail] = envelopeOf(answer, repeated(json, repeats))
  return [Buffer.from(head), json, Buffer.from(tail)]
}

/** What stands before the data, and behind it. */
function envelopeOf(answer: Omit<Shown, 'json'>, repeats = ''): [string, string] {
  const { recordCount, message, beside = {} } = answer
  const head = `"result":true,"message":${JSON.stringify(message ?? null)}`
  const rest = repeats + members(Object.entries(beside))
  return [`{${head},"recordCount":${recordCount},"data":`, `${rest}}`]
}

function repeated(json: string | Buffer, fields: readonly string[]): string {
  if (fields.length === 0) return ''
  const data = JSON.parse(String(json)) as Record<string, unknown>
  return members(fields.map((field) => [field, data[field]]))
}

const members = (fields: [string, unknown][]) =>
  fields.map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('')
