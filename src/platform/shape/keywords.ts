import type { TSchema } from 'typebox'
import type { Code } from '../problem-codes.ts'

/** What is wrong with a value, or with one of its fields; the field's path is put before it. */
export type Finding = { field?: string; code?: Code; words: string }
/** Must bear values of any type: their types are judged beside it, not before. */
export type Check = (value: unknown) => Finding[]

export type DecimalRule = { minimum?: string; above?: string; maximum?: string }

/**
 * The keywords that our schemas have beyond JSON Schema. This is the list: whoever reads schemas
 * (conform, rules, mask, sql/render, sql/rows, http/openapi) reads them through it.
 */
export type Keywords = {
  /** An exact decimal with its bounds: text in our code, `numeric` in SQL, a number in JSON. */
  decimal?: DecimalRule
  /** The lookup category whose ids are right here; 0 means "not given". */
  lookup?: string
  /** A whole number of 64 bits: a number, or its digits where a double would lose some. */
  int64?: boolean
  /** A native id; 0 means "not given". */
  identifier?: boolean
  /** Left out of a PUT it stays as it is; an explicit null clears it. */
  clearable?: boolean
  /** Must not be seen in logs or audit records. */
  sensitive?: boolean
  /** Stored sealed, with the mask that answers show in a column beside it. */
  encrypted?: boolean
  /** Sealed and yet found by whoever knows it whole: a keyed digest stands beside it, too. */
  findable?: boolean
  /** Brings a value into its usual form, before the rules. */
  conformed?: (value: never) => unknown
  /** Tells what is wrong with a value, beyond what the other keywords say. */
  check?: Check
  /** Whether a value that is taken looks wrong all the same; the answer then says so. */
  doubt?: (value: string) => boolean
  /** Whether a value is a word in a number's place, which many have: nobody is found by it. */
  standIn?: (value: string) => boolean
  /** An object or list that is one value of its record: a column of type json. */
  document?: boolean
  /** A list for which one object may stand. */
  lone?: boolean
  /** What a value must be, in the words of a refusal. */
  must?: string
  /** A maximum that is the page limit, for which the specification has words. */
  pageLimit?: boolean
}

const names: Record<keyof Keywords, true> = {
  decimal: true,
  lookup: true,
  int64: true,
  identifier: true,
  clearable: true,
  sensitive: true,
  encrypted: true,
  findable: true,
  conformed: true,
  check: true,
  doubt: true,
  standIn: true,
  document: true,
  lone: true,
  must: true,
  pageLimit: true,
}

/** Whether a keyword is ours, and so of no use to readers of plain JSON Schema. */
export const isOwnKeyword = (name: string) => Object.hasOwn(names, name)

/** A schema as its readers see it: what they use of JSON Schema, and our keywords. */
export type Node = Keywords & {
  type?: string
  format?: string
  enum?: string[]
  maxItems?: number
  default?: string | number | boolean | null
  items?: Node
  properties?: Record<string, Node>
  anyOf?: Node[]
}

export const nodeOf = (schema: TSchema): Node => schema

/** The schema of a nullable field without its null. */
export function ownNode(schema: TSchema): Node {
  const node = nodeOf(schema)
  return node.anyOf?.[0] ? ownNode(node.anyOf[0]) : node
}

/** A value of its own rather than a list or an object. */
export const isScalar = ({ items, properties }: Node) => !items && !properties

/** A value that has a column: a scalar, or a document. */
export const isOneValue = (node: Node) => isScalar(node) || node.document === true

type Visit = (node: Node, name: string | undefined) => void

/** Goes through schemas and all that is in them, each once under the name it stands at. */
function walkSchemas(schemas: readonly TSchema[], visit: Visit) {
  const seen = new Set<Node>()
  const walk = (node: Node, name?: string) => {
    visit(node, name)
    if (seen.has(node)) return
    seen.add(node)
    for (const inner of [...(node.anyOf ?? []), ...(node.items ? [node.items] : [])])
      walk(inner, name)
    for (const [field, inner] of Object.entries(node.properties ?? {})) walk(inner, field)
  }
  for (const schema of schemas) walk(nodeOf(schema))
}

/** Items that a list may have where its schema states no limit. */
export const usualItems = 1000

/** The longest list that a schema takes anywhere, and whether it has lists of records at all. */
export function listsIn(schema: TSchema): { mostItems: number; ofRecords: boolean } {
  let mostItems = usualItems
  let ofRecords = false
  walkSchemas([schema], ({ items, maxItems = 0 }) => {
    if (items) mostItems = Math.max(mostItems, maxItems)
    ofRecords ||= Boolean(items?.properties)
  })
  return { mostItems, ofRecords }
}

/** The names of all fields that schemas have, at any depth, in small letters. */
export function fieldNames(schemas: readonly TSchema[]): Set<string> {
  const found = new Set<string>()
  walkSchemas(schemas, (_node, name) => name && found.add(name.toLowerCase()))
  return found
}

/** The names under which schemas have sensitive values, at any depth. */
export function sensitiveNames(schemas: readonly TSchema[]): Set<string> {
  const found = new Set<string>()
  walkSchemas(schemas, ({ sensitive }, name) => sensitive && name && found.add(name))
  return found
}
