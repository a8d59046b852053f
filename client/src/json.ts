/**
 * Parses JSON and keeps decimals exact: a number under one of the given names, or one that a double
 * cannot hold, is returned as the text that was sent. Everything else is as JSON.parse returns it.
 */
export function parseExactly(text: string, decimals: ReadonlySet<string>): unknown {
  return new Reader(text, decimals).whole()
}

const space = /[\t\n\r ]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

class Reader {
  private at = 0
  private readonly text: string
  private readonly decimals: ReadonlySet<string>

  constructor(text: string, decimals: ReadonlySet<string>) {
    this.text = text
    this.decimals = decimals
  }

  whole(): unknown {
    const value = this.value('')
    this.take(space)
    if (this.at < this.text.length) throw new SyntaxError(`Unexpected text at ${this.at}.`)
    return value
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }

  /**
   * Reads a string with its quotes. It is scanned by hand, since a regular expression overflows the
   * stack on files of some MB.
   */
  private string(): string | undefined {
    if (this.text[this.at] !== '"') return undefined
    const from = this.at
    do this.at = this.text.indexOf('"', this.at + 1)
    while (this.at > 0 && this.isEscaped())
    if (this.at < 0) throw new SyntaxError(`The text at ${from} has no end.`)
    return this.text.slice(from, ++this.at)
  }

  private isEscaped(): boolean {
    let before = this.at
    while (this.text[before - 1] === '\\') before--
    return (this.at - before) % 2 === 1
  }

  /** Whether the next character is this one; if so, moves past it. */
  private skip(sign: string): boolean {
    this.take(space)
    if (this.text[this.at] !== sign) return false
    this.at++
    return true
  }

  private need(sign: string) {
    if (!this.skip(sign)) throw new SyntaxError(`Expected ${sign} at ${this.at}.`)
  }

  private value(name: string): unknown {
    if (this.skip('{')) return this.object()
    if (this.skip('[')) return this.array(name)
    const written = this.string()
    if (written !== undefined) return JSON.parse(written)
    for (const [word, value] of words)
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length
        return value
      }
    const digits = this.take(number)
    if (!digits) throw new SyntaxError(`Unexpected text at ${this.at}.`)
    return this.decimals.has(name) || !isExact(digits) ? digits : Number(digits)
  }

  private object(): Record<string, unknown> {
    const fields: Record<string, unknown> = {}
    if (this.skip('}')) return fields
    do {
      this.take(space)
      const name = JSON.parse(this.string() ?? '') as string
      this.need(':')
      Object.defineProperty(fields, name, {
        value: this.value(name),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    } while (this.skip(','))
    this.need('}')
    return fields
  }

  private array(name: string): unknown[] {
    const items: unknown[] = []
    if (this.skip(']')) return items
    do items.push(this.value(name))
    while (this.skip(','))
    this.need(']')
    return items
  }
}

const words: readonly [string, unknown][] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

/** Whether a double holds the number with all its digits. */
const isExact = (digits: string) =>
  /^-?\d+$/.test(digits) ? Number.isSafeInteger(Number(digits)) : String(Number(digits)) === digits
