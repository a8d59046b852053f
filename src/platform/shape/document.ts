import type { Node } from './keywords.ts'

/**
 * The JSON of a document (an object or list stored as one value), always in one form: every field
 * in the schema's order, null where it is not given, decimals as the numbers they were written as.
 */
export function documentText(node: Node, value: unknown): string {
  if (value === undefined || value === null) return 'null'
  const { items, properties, decimal } = node
  if (items && Array.isArray(value))
    return `[${value.map((item) => documentText(items, item)).join(',')}]`
  if (properties && typeof value === 'object') {
    const given = value as Record<string, unknown>
    const fields = Object.entries(properties).map(
      ([name, inner]) => `${JSON.stringify(name)}:${documentText(inner, given[name])}`,
    )
    return `{${fields.join(',')}}`
  }
  return decimal ? String(value) : JSON.stringify(value)
}
