import { invalid } from '../refusal.ts'
import { inside, itemOf } from './path.ts'

/**
 * A number as it was written, for fields where a double would lose digits. Integers of up to 15
 * characters become plain numbers; every other number becomes one of these.
 */
export class WrittenNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): string {
    return this.text
  }
}

/**
 * The deepest nesting of arrays and objects: without a limit, deep nesting would overflow the stack
 * of recursive code.
 */
const deepest = 20
/**
 * The most fields of one object; the largest record has fifty. Each field costs far more memory
 * than its text.
 */
const mostFields = 1000
/**
 * The most values in one body: 10 MiB of the smallest values would be five million, and take
 * seconds.
 */
const mostValues = 1_000_000
const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const wordPattern = /true|false|null/y
const words = { true: true, false: false, null: null }
/**
 * Characters that stop a text from being a plain slice of the body: escapes, control characters,
 * surrogates.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the rule of JSON itself
const special = /[\\\u0000-\u001f\ud800-\udfff]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the rule of JSON itself
const plainPattern = /[^"\\\u0000-\u001f]*/y
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

export type JsonLimits = {
  /** The most items of one list; reading stops at the next item. */
  mostItems?: number
}

/** A list or an object whose end has not been read yet. */
type Open = {
  content: unknown[] | Record<string, unknown>
  closing: ']' | '}'
  /** For an object: the field whose value comes next, and how many fields it has so far. */
  key: string
  fields: number
}

type Reading = {
  text: string
  at: number
  values: number
  mostItems: number
  open: Open[]
  value: unknown
}

const beginning = (
  text: string,
  { mostItems = Number.POSITIVE_INFINITY }: JsonLimits,
): Reading => ({
  text,
  at: 0,
  values: 0,
  mostItems,
  open: [],
  value: undefined,
})

/**
 * Reads JSON strictly. No library both refuses everything that we must refuse (a key given twice,
 * `__proto__`, deep nesting, NUL, half a surrogate pair) and keeps numbers digit for digit, hence
 * our own reader. A property test compares it with JSON.parse.
 */
export function parseJson(text: string, limits: JsonLimits = {}): unknown {
  const reading = beginning(text, limits)
  while (!read(reading, Number.POSITIVE_INFINITY));
  return reading.value
}

/** The values read before other work gets a turn: a millisecond or two. */
const valuesAtOnce = 5_000

/** Like parseJson, for a long text: yields to other work while it reads. */
export async function parseLongJson(text: string, limits: JsonLimits = {}): Promise<unknown> {
  const reading = beginning(text, limits)
  while (!read(reading, valuesAtOnce)) await new Promise((resolve) => setImmediate(resolve))
  return reading.value
}

/** Reads up to `most` values; returns whether the text is read to its end. */
function read(reading: Reading, most: number): boolean {
  for (let left = most; left > 0; left--) {
    if (++reading.values > mostValues) fail(reading, `More than ${mostValues} values`)
    skipSpace(reading)
    const next = reading.text[reading.at]
    if ((next === '{' || next === '[') && !openNext(reading, next)) continue
    const value = next === '{' || next === '[' ? closeLast(reading) : readScalar(reading, next)
    if (settle(reading, value)) return true
  }
  return false
}

/** Opens a list or an object; returns whether it is empty, and so complete. */
function openNext(reading: Reading, mark: '{' | '['): boolean {
  if (reading.open.length >= deepest) fail(reading, `Nesting deeper than ${deepest} levels`)
  const opened: Open =
    mark === '{'
      ? { content: {}, closing: '}', key: '', fields: 0 }
      : { content: [], closing: ']', key: '', fields: 0 }
  reading.open.push(opened)
  reading.at++
  if (skipTo(reading, opened.closing)) return true
  if (mark === '{') readKey(reading, opened)
  return false
}

const closeLast = ({ open }: Reading) => open.pop()?.content

/**
 * Stores a value in the innermost open list or object, and closes those that end with it; returns
 * true at the end of the text.
 */
function settle(reading: Reading, first: unknown): boolean {
  for (let value = first; ; ) {
    const last = reading.open.at(-1)
    if (!last) return end(reading, value)
    if (Array.isArray(last.content)) last.content.push(value)
    else last.content[last.key] = value
    if (skipTo(reading, last.closing)) value = closeLast(reading)
    else {
      if (!skipTo(reading, ',')) fail(reading, `A comma or ${last.closing} is expected`)
      if (last.closing === '}') readKey(reading, last)
      else if ((last.content as unknown[]).length >= reading.mostItems) refuseLong(reading)
      return false
    }
  }
}

function end(reading: Reading, value: unknown): true {
  skipSpace(reading)
  if (reading.at < reading.text.length) fail(reading, 'Unexpected text after the JSON value')
  reading.value = value
  return true
}

/**
 * Refuses a list that is too long; its path consists of the keys and positions of everything open
 * around it.
 */
function refuseLong({ open, mostItems }: Reading): never {
  const path = open
    .slice(0, -1)
    .reduce(
      (at, { content, key }) =>
        Array.isArray(content) ? itemOf(at, content.length) : inside(at, key),
      '',
    )
  const message = `${path || 'The body'} has more than ${mostItems} items.`
  throw path ? invalid('too_many', message, path) : invalid('too_many', message)
}

function readKey(reading: Reading, object: Open) {
  if (++object.fields > mostFields) fail(reading, `An object with more than ${mostFields} fields`)
  skipSpace(reading)
  if (reading.text[reading.at] !== '"') fail(reading, 'A field name in double quotes is expected')
  const key = readString(reading)
  if (key === '__proto__') fail(reading, 'The field name __proto__ is not allowed')
  if (Object.hasOwn(object.content, key))
    fail(reading, `The field ${JSON.stringify(key)} is given twice`)
  if (!skipTo(reading, ':')) fail(reading, 'A colon is expected')
  object.key = key
}

function readScalar(reading: Reading, next: string | undefined): unknown {
  if (next === '"') return readString(reading)
  if (next === 't' || next === 'f' || next === 'n') return readWord(reading)
  return readNumber(reading)
}

function readString(reading: Reading): string {
  const { text, at } = reading
  const end = text.indexOf('"', at + 1)
  const plain = text.slice(at + 1, end)
  if (end < 0 || special.test(plain)) return readSpecialString(reading)
  reading.at = end + 1
  return plain
}

function readSpecialString(reading: Reading): string {
  const { text } = reading
  const start = reading.at++
  for (;;) {
    plainPattern.lastIndex = reading.at
    plainPattern.test(text)
    reading.at = plainPattern.lastIndex
    if (text[reading.at] === '"') break
    if (text[reading.at] !== '\\')
      fail(reading, 'A text that does not end, or a control character in it')
    reading.at += 2
  }
  reading.at++
  const string = withoutEscapes(reading, start)
  if (string.includes('\0')) fail(reading, 'The character U+0000 is not allowed')
  if (loneSurrogate.test(string)) fail(reading, 'Half of a surrogate pair is not allowed')
  return string
}

function withoutEscapes(reading: Reading, start: number): string {
  try {
    return JSON.parse(reading.text.slice(start, reading.at))
  } catch {
    reading.at = start
    return fail(reading, 'A text with an escape that JSON does not know')
  }
}

function readNumber(reading: Reading): number | WrittenNumber {
  numberPattern.lastIndex = reading.at
  const match = numberPattern.exec(reading.text)
  if (!match) return fail(reading, 'A JSON value is expected')
  reading.at = numberPattern.lastIndex
  const exact = match[1] === undefined && match[2] === undefined && match[0].length <= 15
  return exact ? Number(match[0]) : new WrittenNumber(match[0])
}

function readWord(reading: Reading): boolean | null {
  wordPattern.lastIndex = reading.at
  const match = wordPattern.exec(reading.text)
  if (!match) return fail(reading, 'A JSON value is expected')
  reading.at = wordPattern.lastIndex
  return words[match[0] as keyof typeof words]
}

function skipSpace(reading: Reading): void {
  const { text } = reading
  for (;;) {
    const code = text.charCodeAt(reading.at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
    reading.at++
  }
}

function skipTo(reading: Reading, mark: string): boolean {
  skipSpace(reading)
  if (reading.text[reading.at] !== mark) return false
  reading.at++
  return true
}

function fail({ at }: Reading, problem: string): never {
  throw invalid('malformed_json', `${problem} (at character ${at + 1} of the body).`)
}
