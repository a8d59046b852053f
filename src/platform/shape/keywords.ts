import type { TSchema } from 'typebox'
import type { Code } from '../problem-codes.ts'

/** One thing that is wrong with a value, or with one of its fields; the path is added in front. */
export type Finding = { field?: string; code?: Code; words: string }
/** Must accept values of any type, because types are checked in the same pass, not before. */
export type Check = (value: unknown) => Finding[]

/** What a text must be, where its schema has no `must`. */
export const usualMust = 'must not be empty'

export type DecimalRule = { minimum?: string; above?: string; maximum?: string }

/**
 * The complete list of keywords that our schemas have beyond JSON Schema. All code that reads
 * schemas (conform, rules, mask, sql/render, sql/rows, http/openapi) reads them through this type.
 */
export type Keywords = {
  /** An exact decimal with its bounds: text in our code, `numeric` in SQL, a number in JSON. */
  decimal?: DecimalRule
  /** The lookup category whose ids are valid; 0 means "not given". */
  lookup?: string
  /** A whole number of 64 bits: a number, or its digits as text where a double would lose some. */
  int64?: boolean
  /** A native id; 0 means "not given". */
  identifier?: boolean
  /** A PUT that leaves the field out keeps its value; an explicit null clears it. */
  clearable?: boolean
  /** Must not be seen in logs or audit records. */
  sensitive?: boolean
  /** Stored encrypted; a column beside it holds the mask that answers show. */
  encrypted?: boolean
  /** Encrypted, yet searchable by its complete value: a keyed digest is stored as well. */
  findable?: boolean
  /** Brings a value into its standard form, before the rules are checked. */
  conformed?: (value: never) => unknown
  /** Finds problems with a value beyond those of the other keywords. */
  check?: Check
  /** Whether a value that is accepted nevertheless looks wrong; the answer then says so. */
  doubt?: (value: string) => boolean
  /**
   * Whether a value is a stand-in code in a number's place, which many investors share: it must not
   * be used to find a record.
   */
  standIn?: (value: string) => boolean
  /** An object or list that is one value of its record: a column of type json. */
  document?: boolean
  /** A list in whose place a single object may be sent. */
  lone?: boolean
  /** The message of a refusal: what the value must be. */
  must?: string
  /** A maximum that is the page limit, whose message the specification prescribes. */
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

/** Whether a keyword is ours, so that readers of plain JSON Schema must not see it. */
export const isOwnKeyword = (name: string) => Object.hasOwn(names, name)

/** A schema as our code reads it: the parts of JSON Schema in use, and our keywords. */
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

/** A single value, not a list or an object. */
export const isScalar = ({ items, properties }: Node) => !items && !properties

/** A value stored in one column: a scalar, or a document. */
export const isOneValue = (node: Node) => isScalar(node) || node.document === true

type Visit = (node: Node, name: string | undefined) => void

/**
 * Visits schemas and everything nested in them, each with the name of its field; a schema met again
 * is visited but not descended into again.
 */
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

/** The most items of a list whose schema states no limit. */
export const usualItems = 1000

/** The longest list that a schema accepts anywhere, and whether it contains lists of records. */
export function listsIn(schema: TSchema): { mostItems: number; ofRecords: boolean } {
  let mostItems = usualItems
  let ofRecords = false
  walkSchemas([schema], ({ items, maxItems = 0 }) => {
    if (items) mostItems = Math.max(mostItems, maxItems)
    ofRecords ||= Boolean(items?.properties)
  })
  return { mostItems, ofRecords }
}

/** The names of all fields of the schemas, at any depth, in lower case. */
export function fieldNames(schemas: readonly TSchema[]): Set<string> {
  const found = new Set<string>()
  walkSchemas(schemas, (_node, name) => name && found.add(name.toLowerCase()))
  return found
}

/** The names of all sensitive fields of the schemas, at any depth. */
export function sensitiveNames(schemas: readonly TSchema[]): Set<string> {
  const found = new Set<string>()
  walkSchemas(schemas, ({ sensitive }, name) => sensitive && name && found.add(name))
  return found
}
