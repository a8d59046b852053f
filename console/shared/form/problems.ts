import { RegistryError } from '../api/error.ts'

/** Problems of an answer by the path of their field, as the form knows it: `a[0].b` is `a.0.b`. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof RegistryError)) return {}
  const named = error.problems.filter(({ field }) => field !== undefined)
  return Object.fromEntries(named.map(({ field = '', message }) => [pathOf(field), message]))
}

const pathOf = (field: string) => field.replaceAll(/\[(\d+)\]/g, '.$1').replace(/^\./, '')
