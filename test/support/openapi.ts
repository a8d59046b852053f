import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Client } from './client.ts'

/** The types of the OpenAPI document, for the suites that walk through all operations. */
export type Schema = {
  $ref?: string
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  description?: string
  enum?: unknown[]
  type?: unknown
  format?: string
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  example?: unknown
}
type Content = { content: Record<string, { schema: Schema }> }
export type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}
export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security?: object[]
  parameters: Parameter[]
  requestBody?: Content & { required: boolean }
  responses: Record<string, Content & { description: string }>
}
export type Document = {
  openapi: string
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
export type Served = { name: string; method: string; path: string; operation: Operation }

export const jsonType = 'application/json'

export const readDocument = async (anyone: Client): Promise<Document> =>
  JSON.parse((await anyone.get('/openapi.json')).text)

/** Every operation of the document. */
export const servedBy = ({ paths }: Document): Served[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )

/** The golden list of all operations, with the permission that each needs. */
export const goldenOperations = () =>
  new Map(
    readFileSync('test/operations.txt', 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(': ') as [string, string]),
  )

/** The permission that an operation needs, read from its description. */
export const accessOf = ({ description }: Operation) => {
  if (/Needs no token\./.test(description)) return 'public'
  return /Needs the permission `(.+)`/.exec(description)?.[1] ?? 'signed-in'
}

export const queryOf = ({ parameters }: Operation) =>
  parameters.filter((parameter) => parameter.in === 'query')

export const bodyOf = ({ requestBody }: Operation) => requestBody?.content[jsonType]?.schema

export const resolved = ({ components }: Document, schema: Schema): Schema =>
  schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)!]! : schema

const day = '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])'

/**
 * Returns a function that compares an answer with the document and returns its faults: its status,
 * every field of its body, the form of dates, and fields that the document does not have.
 */
export function answerJudge(document: Document) {
  const ajv = new Ajv2020({ strict: false })
  ajv.addFormat('date', new RegExp(`^${day}$`))
  ajv.addFormat('date-time', new RegExp(`^${day}T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ$`))
  ajv.addFormat('int64', true)
  ajv.addSchema(closed(document) as object, 'api')
  const compiled = new Map<string, ValidateFunction>()
  const pointer = (part: string) => encodeURIComponent(part.replaceAll('/', '~1'))

  return ({ name, method, path, operation }: Served, status: number, body: unknown) => {
    const schema = operation.responses[status]?.content[jsonType]?.schema
    if (!schema) return `${status} is not a status of ${name}`
    const place = ['paths', path, method.toLowerCase(), 'responses', String(status)]
    const own = [...place, 'content', jsonType, 'schema'].map(pointer).join('/')
    const at = schema.$ref ?? `#/${own}`
    const validate = compiled.get(at) ?? ajv.compile({ $ref: `api${at}` })
    compiled.set(at, validate)
    if (validate(body)) return undefined
    return validate.errors!.map((one) => `${one.instancePath} ${one.message}`).join('; ')
  }
}

/** The schemas, changed so that they take no field that they do not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  // A schema with `allOf` narrows another down and names only some of its fields.
  if ('allOf' in schema) return schema
  const inner = Object.entries(schema).map(([key, value]) => [
    key,
    key === 'example' || key === 'enum' ? value : closed(value),
  ])
  const isObject = 'properties' in schema && 'type' in schema && schema.type === 'object'
  return Object.fromEntries([...inner, ...(isObject ? [['additionalProperties', false]] : [])])
}
