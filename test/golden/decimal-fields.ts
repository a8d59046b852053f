import type { Service } from '../support/service.ts'

type Schema = {
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  type?: string | string[]
}

/** The number fields of every record in the OpenAPI document, by the kind of number. */
export async function numberFields({ url }: Service) {
  const document = await (await fetch(`${url}/openapi.json`)).json()
  const kinds = { decimal: new Set<string>(), integer: new Set<string>() }
  const walk = (schema: Schema, name?: string) => {
    const types = [schema.type ?? []].flat()
    if (name && types.includes('number')) kinds.decimal.add(name)
    if (name && types.includes('integer')) kinds.integer.add(name)
    for (const [field, one] of Object.entries(schema.properties ?? {})) walk(one, field)
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(one, name)
    if (schema.items) walk(schema.items, name)
  }
  for (const schema of Object.values<Schema>(document.components.schemas)) walk(schema)
  return kinds
}

/** The source file with the list of fields that the console reads as decimals. */
export async function decimalFieldsFile(service: Service): Promise<string> {
  const { decimal } = await numberFields(service)
  const lines = [...decimal].sort().map((name) => `  '${name}',\n`)
  return `/**
 * The fields that hold exact decimals: JSON numbers on the wire, text in the browser. Made from the
 * service's own schemas by \`npm run golden\`.
 */
export const decimalFields = [
${lines.join('')}] as const
`
}
