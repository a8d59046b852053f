import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { invalid, Refusal } from '../refusal.ts'
import type { Shown } from '../sql/render.ts'
import type { Written } from '../sql/unit-of-work.ts'
import { type Endpoint, isWrite, methodOf, pathOf, type Tagging } from './endpoint.ts'

/**
 * How records are tagged, by the path of the read that declares it; PUT and DELETE at that path
 * accept If-Match.
 */
export type Taggings = ReadonlyMap<string, Tagging>

export const taggingsOf = (endpoints: readonly Endpoint[]): Taggings =>
  new Map(
    endpoints.flatMap((endpoint) => (endpoint.etag ? [[pathOf(endpoint), endpoint.etag]] : [])),
  )

/** Whether the endpoint changes or deletes records that a read at the same path tags. */
export const heedsIfMatch = (endpoint: Endpoint, taggings: Taggings) =>
  isReplacing(endpoint) && taggings.has(pathOf(endpoint))

const isReplacing = (endpoint: Endpoint) => isWrite(endpoint) && methodOf(endpoint) !== 'POST'

/** The ETag of an answer, if the read asked for one record and found it. */
export function etagOf(
  tagging: Tagging | undefined,
  query: unknown,
  { json, recordCount }: Shown,
): string | undefined {
  if (!tagging || recordCount !== 1) return undefined
  const asked = Object.keys(query as object)
  return tagging.by.some((name) => asked.includes(name) || asked.includes(`${name}.equal`))
    ? tagOfRecord(tagging, json.toString())
    : undefined
}

/**
 * The tag is a hash of the record's content, so it is the same whichever write or node made it. It
 * hashes PostgreSQL's text, which every read and write of a resource gets from the same select:
 * parsing the text would take longer than the rest of a read.
 */
function tagOfRecord({ without = [] }: Tagging, json: string): string {
  const text = textWithout(json.startsWith('[') ? json.slice(1, -1) : json, without)
  return `"${hash('sha256', text, 'base64url').slice(0, 27)}"`
}

/**
 * The JSON text of a record without the named fields, at any depth. A quoted name followed by a
 * colon can only be a field: quotes within a text are preceded by a backslash.
 */
export function textWithout(json: string, names: readonly string[]): string {
  if (names.length === 0) return json
  const field = new RegExp(`"(?:${names.join('|')})":`, 'g')
  let [text, end] = ['', 0]
  for (let found = field.exec(json); found; found = field.exec(json)) {
    text += json.slice(end, found.index)
    end = endOfValue(json, field.lastIndex)
    field.lastIndex = end
  }
  return text + json.slice(end)
}

const piece = /"[^"\\]*(?:\\.[^"\\]*)*"|[[{]|[\]}]|,|[^"[\]{},]+/y

function endOfValue(json: string, start: number): number {
  let depth = 0
  piece.lastIndex = start
  do {
    const mark = piece.exec(json)?.[0] ?? ''
    if (mark === '[' || mark === '{') depth++
    if (mark === ']' || mark === '}') depth--
  } while (depth > 0)
  return piece.lastIndex
}

/** Throws if the record was not, before the write, the one that the caller had read. */
export type Condition = (written: Written) => void

/** Makes the check of a request's If-Match header; undefined where the header has no meaning. */
export function conditionReader(endpoint: Endpoint, taggings: Taggings) {
  const tagging = taggings.get(pathOf(endpoint))
  return ({ 'if-match': header }: IncomingHttpHeaders): Condition | undefined => {
    if (header === undefined || !isReplacing(endpoint)) return undefined
    // Ignoring the header would overwrite data that the caller believes protected.
    if (!tagging) throw malformed(`${endpoint.operation} does not take If-Match.`)
    const tags = tagsIn(header)
    return ({ before }) => {
      if (before === undefined)
        throw new Error(`${endpoint.operation} does not tell the record as it was before.`)
      if (tags !== 'any' && !tags.includes(tagOfRecord(tagging, before))) throw changed()
    }
  }
}

const malformed = (message: string) => invalid('invalid_value', message, 'If-Match')

const changed = () =>
  new Refusal(412, [
    {
      code: 'changed_meanwhile',
      field: 'If-Match',
      message:
        'The record has changed since it was read. Read it again, and change what it is now.',
    },
  ])

const listed = /[ \t,]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y

/** RFC 9110, 13.1.1: a star, or tags in quotes. Weak tags are valid there but never match. */
function tagsIn(header: string): 'any' | string[] {
  if (header.trim() === '*') return 'any'
  const tags: string[] = []
  listed.lastIndex = 0
  let end = 0
  for (let found = listed.exec(header); found; found = listed.exec(header)) {
    tags.push(found[1]!)
    end = listed.lastIndex
  }
  if (tags.length === 0 || /[^ \t,]/.test(header.slice(end)))
    throw malformed('If-Match must be * or ETags as they were given, with their quotes.')
  return tags
}
