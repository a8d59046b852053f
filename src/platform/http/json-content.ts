import { Refusal } from '../refusal.ts'
import { base64Decoder } from './base64.ts'

/** The most bytes beside a file's content in its JSON: ids and names. */
const mostBeside = 65_536

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const opening = new Set([0x7b, 0x5b])
const closing = new Set([0x7d, 0x5d])

/**
 * Extracts a file's content from JSON while it arrives. The base64 text of the member `content` is
 * decoded and returned piece by piece; the rest is a small JSON text with an empty content, to be
 * parsed like any other. So a file of any size needs little memory.
 */
export function contentSplitter() {
  const beside: Buffer[] = []
  let besideBytes = 0
  let depth = 0
  let inText = false
  let escaped = false
  let isKey = false
  let key = ''
  let value = false
  let decoder: ReturnType<typeof base64Decoder> | undefined
  let pending = ''

  return {
    /** The decoded bytes of the content in this piece of the JSON. */
    push(piece: Buffer): Buffer[] {
      const found: Buffer[] = []
      for (let at = 0; at < piece.length; )
        at = decoder ? takeContent(piece, at, found) : takeBeside(piece, at)
      return found
    },
    /** The JSON without the content. */
    rest: () => Buffer.concat(beside),
  }

  function takeBeside(piece: Buffer, start: number): number {
    let at = start
    while (at < piece.length && !decoder) step(piece[at++]!)
    besideBytes += at - start
    if (besideBytes > mostBeside) throw tooMuch()
    beside.push(Buffer.from(piece.subarray(start, at)))
    return at
  }

  function step(byte: number) {
    if (inText) return stepInText(byte)
    if (byte === quote) {
      inText = true
      isKey = depth === 1 && !value
      if (isKey) key = ''
      else if (depth === 1 && key.toLowerCase() === 'content') decoder = base64Decoder()
    } else if (opening.has(byte)) depth++
    else if (closing.has(byte)) depth--
    else if (depth === 1 && byte === colon) value = true
    else if (depth === 1 && byte === comma) value = false
  }

  function stepInText(byte: number) {
    if (escaped) escaped = false
    else if (byte === backslash) escaped = true
    else if (byte === quote) inText = false
    if (inText && isKey) key += String.fromCharCode(byte)
  }

  function takeContent(piece: Buffer, start: number, found: Buffer[]): number {
    if (pending) return takeEscape(piece, start, found)
    const slash = piece.indexOf(backslash, start)
    const before = piece.subarray(start, slash < 0 ? piece.length : slash)
    const end = before.indexOf(quote)
    const text = end < 0 ? before : before.subarray(0, end)
    found.push(decoder!.push(text.toString('latin1')))
    const stop = start + text.length
    if (end >= 0) {
      found.push(decoder!.end())
      decoder = undefined
      key = ''
      return stop // at the closing quote of the content, which is empty in `rest`
    }
    if (slash >= 0) pending = '\\'
    return slash < 0 ? stop : stop + 1
  }

  /** Some JSON writers escape / and +, which are frequent in base64. */
  function takeEscape(piece: Buffer, at: number, found: Buffer[]): number {
    pending += String.fromCharCode(piece[at]!)
    if (pending.length === (pending[1] === 'u' ? 6 : 2)) {
      found.push(decoder!.push(unescaped(pending)))
      pending = ''
    }
    return at + 1
  }
}

function unescaped(written: string): string {
  try {
    return JSON.parse(`"${written}"`)
  } catch {
    return '?' // no letter of base64
  }
}

const tooMuch = () =>
  new Refusal(413, [
    { code: 'body_too_large', message: 'The body has too much beside the content of the file.' },
  ])
