import { bodyOf, type Document, queryOf, resolved, type Schema, type Served } from './openapi.ts'

export type Call = [
  operation: string,
  path: string,
  body?: string,
  headers?: Record<string, string>,
]

/** Calls of an operation with a value of `next` in each of its fields and parameters. */
export function misplaced(
  document: Document,
  { name, path, operation }: Served,
  next: () => string,
): Call[] {
  const schema = bodyOf(operation)
  const parameters = queryOf(operation)
  const query = new URLSearchParams(parameters.map((parameter) => [parameter.name, next()]))
  const calls: Call[] = parameters.length > 0 ? [[name, `${path}?${query}`]] : []
  if (!schema) return calls
  const filled = JSON.stringify(filledWith(document, schema, next))
  calls.push([name, path, filled])
  // One path for each of the two readers of bodies: most operations share one, files have another.
  if (path !== '/Person' && path !== '/Document/File') return calls
  return [
    ...calls,
    [name, path, filled.slice(0, -2)],
    [name, path, JSON.stringify(next())],
    [name, path, filled, { 'Content-Type': `text/${encodeURIComponent(next())}` }],
    [name, `${path}/${encodeURIComponent(next())}`, filled],
    [name, path, filled, { Version: next() }],
    [name, path, filled, { Authorization: next() }],
    [name, path, filled, { 'Idempotency-Key': next().repeat(30) }],
  ]
}

/** A value that fits a schema in shape, with a secret in every field. */
function filledWith(document: Document, given: Schema, next: () => string, depth = 0): unknown {
  const schema = resolved(document, given.oneOf?.[0] ?? given.anyOf?.[0] ?? given)
  if (depth > 5) return next()
  if (schema.items) return [filledWith(document, schema.items, next, depth + 1)]
  if (!schema.properties) return next()
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => [
      name,
      filledWith(document, field, next, depth + 1),
    ]),
  )
}
