import { invalid } from '../refusal.ts'

/**
 * A number as it was written, kept for fields where a double would lose digits. Integers that a
 * double holds exactly arrive as plain numbers; everything else is one of these.
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

/** Levels of arrays and objects. A recursive reader without a limit is a stack overflow away. */
const deepest = 20
/** Fields of one object; the largest record has fifty. Each costs far more memory than its text. */
const mostFields = 1000
/** Values in one body: 10 MiB of the smallest would be five million, and seconds of our time. */
const mostValues = 1_000_000
const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const wordPattern = /true|false|null/y
const words = { true: true, false: false, null: null }
/** What makes a text more than a slice of the body: escapes, control characters, surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the rule of JSON itself
const special = /[\\\u0000-\u001f\ud800-\udfff]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the rule of JSON itself
const plainPattern = /[^"\\\u0000-\u001f]*/y
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/**
 * Reads JSON strictly. No library refuses all of what we must (a key given twice, `__proto__`, deep
 * nesting, NUL, half a surrogate pair) and keeps numbers digit for digit, so this reader is ours;
 * a property test holds it to JSON.parse.
 */
export function parseJson(text: string): unknown {
  let at = 0
  let values = 0

  const value = read(1)
  skipSpace()
  if (at < text.length) fail('Unexpected text after the JSON value')
  return value

  function read(depth: number): unknown {
    if (++values > mostValues) fail(`More than ${mostValues} values`)
    skipSpace()
    const next = text[at]
    if (next === '"') return readString()
    if (next === '{') return readObject(depth)
    if (next === '[') return readArray(depth)
    if (next === 't' || next === 'f' || next === 'n') return readWord()
    return readNumber()
  }

  function readObject(depth: number): object {
    if (depth > deepest) fail(`Nesting deeper than ${deepest} levels`)
    const object: Record<string, unknown> = {}
    at++
    if (skipTo('}')) return object
    for (let fields = 1; ; fields++) {
      if (fields > mostFields) fail(`An object with more than ${mostFields} fields`)
      skipSpace()
      if (text[at] !== '"') fail('A field name in double quotes is expected')
      const key = readString()
      if (key === '__proto__') fail('The field name __proto__ is not allowed')
      if (Object.hasOwn(object, key)) fail(`The field ${JSON.stringify(key)} is given twice`)
      if (!skipTo(':')) fail('A colon is expected')
      object[key] = read(depth + 1)
      if (skipTo('}')) return object
      if (!skipTo(',')) fail('A comma or } is expected')
    }
  }

  function readArray(depth: number): unknown[] {
    if (depth > deepest) fail(`Nesting deeper than ${deepest} levels`)
    const items: unknown[] = []
    at++
    if (skipTo(']')) return items
    for (;;) {
      items.push(read(depth + 1))
      if (skipTo(']')) return items
      if (!skipTo(',')) fail('A comma or ] is expected')
    }
  }

  function readString(): string {
    const end = text.indexOf('"', at + 1)
    const plain = text.slice(at + 1, end)
    if (end < 0 || special.test(plain)) return readSpecialString()
    at = end + 1
    return plain
  }

  function readSpecialString(): string {
    const start = at++
    for (;;) {
      plainPattern.lastIndex = at
      plainPattern.test(text)
      at = plainPattern.lastIndex
      if (text[at] === '"') break
      if (text[at] !== '\\') fail('A text that does not end, or a control character in it')
      at += 2
    }
    at++
    const string = withoutEscapes(start)
    if (string.includes('\0')) fail('The character U+0000 is not allowed')
    if (loneSurrogate.test(string)) fail('Half of a surrogate pair is not allowed')
    return string
  }

  function withoutEscapes(start: number): string {
    try {
      return JSON.parse(text.slice(start, at))
    } catch {
      at = start
      return fail('A text with an escape that JSON does not know')
    }
  }

  function readNumber(): number | WrittenNumber {
    numberPattern.lastIndex = at
    const match = numberPattern.exec(text)
    if (!match) return fail('A JSON value is expected')
    at = numberPattern.lastIndex
    const exact = match[1] === undefined && match[2] === undefined && match[0].length <= 15
    return exact ? Number(match[0]) : new WrittenNumber(match[0])
  }

  function readWord(): boolean | null {
    wordPattern.lastIndex = at
    const match = wordPattern.exec(text)
    if (!match) return fail('A JSON value is expected')
    at = wordPattern.lastIndex
    return words[match[0] as keyof typeof words]
  }

  function skipSpace(): void {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      at++
    }
  }

  function skipTo(mark: string): boolean {
    skipSpace()
    if (text[at] !== mark) return false
    at++
    return true
  }

  function fail(problem: string): never {
    throw invalid('malformed_json', `${problem} (at character ${at + 1} of the body).`)
  }
}
