import type { TSchema } from 'typebox'
import { type Node, ownNode } from '../../platform/shape/keywords.ts'
import { type ItemPath, inside, itemOf } from '../../platform/shape/path.ts'

/** How many doubtful numbers an answer names. */
const mostNamed = 20

/**
 * The message of an answer about numbers that were stored although their check digit is wrong.
 * Empty when all check digits fit.
 */
export function doubtsAbout(
  schema: TSchema,
  records: readonly object[],
  pathOf: ItemPath = () => '',
): { message?: string } {
  const fields: string[] = []
  for (const [i, record] of records.entries()) collect(ownNode(schema), record, pathOf(i), fields)
  if (fields.length === 0) return {}
  const rest = fields.length - mostNamed
  const named = fields.slice(0, mostNamed).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
  return { message: `Stored, but the check digit is wrong: ${named}.` }
}

function collect(node: Node, value: unknown, path: string, found: string[]) {
  if (typeof value === 'string') {
    if (node.doubt?.(value)) found.push(path)
  } else if (Array.isArray(value)) {
    const items = node.items
    if (items) for (const [i, item] of value.entries()) collect(items, item, itemOf(path, i), found)
  } else if (typeof value === 'object' && value !== null) {
    const { properties = {} } = node
    for (const [name, field] of Object.entries(value))
      if (properties[name]) collect(ownNode(properties[name]), field, inside(path, name), found)
  }
}
