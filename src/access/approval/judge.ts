import type { WriteEndpoint } from '../../platform/http/endpoint.ts'
import { canWait } from '../../platform/http/waiting.ts'
import { invalid } from '../../platform/refusal.ts'
import { fieldNames } from '../../platform/shape/keywords.ts'

type About = {
  operation?: string | null | undefined
  resource?: string | null | undefined
  fields?: readonly string[] | null | undefined
}

/**
 * Refuses a rule that could never hold back a write, because its operation or resource has no write
 * that can wait, or because no such write has one of its fields. Users would otherwise rely on a
 * control that has no effect.
 */
export function refuseIdle(
  writes: readonly WriteEndpoint[],
  { operation, resource, fields }: About,
): void {
  const own = writes.filter(
    (endpoint) =>
      canWait(endpoint) &&
      (operation
        ? endpoint.operation.toLowerCase() === operation.toLowerCase()
        : endpoint.resource === resource),
  )
  const [what, field] = operation ? [operation, 'operation'] : [resource, 'resource']
  if (own.length === 0)
    throw invalid(
      'invalid_value',
      `${what} ${operation ? 'is no write' : 'has no write'} that can wait.`,
      field,
    )
  const schemas = own.flatMap(({ body, query, data }) =>
    [body, query, data].flatMap((s) => s ?? []),
  )
  const known = fieldNames(schemas)
  const unknown = fields?.find((name) => !known.has(name.toLowerCase()))
  if (unknown !== undefined)
    throw invalid('invalid_value', `${what} has no field ${unknown}.`, 'fields')
}
