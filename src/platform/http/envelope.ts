import type { Answer, Shown } from '../sql/render.ts'

/**
 * The envelope of every success, built as text: PostgreSQL has rendered the data, so it is not
 * parsed and written again. `repeats` names fields of the data that are repeated at the top level.
 */
export function successBody({ json, ...answer }: Answer, repeats: readonly string[] = []): string {
  const [head, tail] = envelopeOf(answer, repeated(json, repeats))
  return head + json + tail
}

/** Like successBody, for data that may be bytes: the bytes of a page are sent unchanged. */
export function shownBody(
  { json, ...answer }: Shown,
  repeats: readonly string[] = [],
): string | Buffer[] {
  if (typeof json === 'string') return successBody({ json, ...answer }, repeats)
  const [head, tail] = envelopeOf(answer, repeated(json, repeats))
  return [Buffer.from(head), json, Buffer.from(tail)]
}

/** The text before the data, and the text behind it. */
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
