import { createReadStream } from 'node:fs'
import { type Parser, parse } from 'csv-parse'
import { badFile, noValue, type Source, type SourceRow } from './row.ts'
import type { Encoding, Format } from './schema.ts'
import { readXlsx } from './xlsx-read.ts'

type File = { path: string; size: number; format: Format; encoding: Encoding }

export function openSource(file: File): Source {
  if (file.format === 'xlsx') return readXlsx(file.path)
  const stream = createReadStream(file.path)
  const texts = decoded(stream, file.encoding)
  return {
    rows: file.format === 'csv' ? csvRows(texts) : lines(texts),
    progress: () => Math.min(1, stream.bytesRead / Math.max(1, file.size)),
  }
}

/** Decodes a file. Bytes that are invalid in the encoding are refused, never replaced. */
async function* decoded(bytes: AsyncIterable<Buffer>, encoding: Encoding) {
  let decode: Decode | undefined
  for await (const piece of bytes) {
    decode ??= encoding === 'UTF-8' || hasMark(piece) ? utf8() : windows1252
    const text = decode(piece)
    if (text.includes('\0')) throw badFile('The file is not a text: it holds a NUL.')
    if (text) yield text
  }
  const rest = decode?.(undefined)
  if (rest) yield rest
}

/**
 * Whether a file begins with the byte order mark of UTF-8, which overrides the stated encoding: our
 * file of refused rows is UTF-8 even if the original file was not.
 */
const hasMark = (piece: Buffer) => piece.subarray(0, 3).toString() === '\ufeff'

type Decode = (piece: Buffer | undefined) => string

function utf8(): Decode {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return (piece) => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
    } catch {
      throw badFile('The file is not UTF-8; where it is Windows-1252, say so.')
    }
  }
}

// Node 20 decodes the bytes 80 to 9F as Latin-1, where they are control characters.
const beyondLatin1 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'
const windows1252: Decode = (piece) =>
  (piece?.toString('latin1') ?? '').replaceAll(
    /[\u0080-\u009f]/g,
    (letter) => beyondLatin1[letter.charCodeAt(0) - 0x80] ?? letter,
  )

/** The longest record. Without a limit, a quote that is never closed would swallow the file. */
const longestRecord = 1_000_000

/**
 * The notes and empty lines above the head. The parser does not get them, because it expects all
 * lines to have as many cells as the first, and takes 40 µs for each line that differs.
 */
const notesAbove = (text: string) => /^\ufeff?(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)?.[0] ?? ''

/** The separator of a file: whichever of the candidates its first line has most often. */
function delimiterIn(text: string): string {
  const [first = ''] = text.slice(notesAbove(text).length).split('\n', 1)
  const counted = [',', ';', '\t'].map((mark) => ({ mark, times: first.split(mark).length }))
  return counted.sort((one, other) => other.times - one.times)[0]?.mark ?? ','
}

/**
 * A line is not a note if its # is inside quotes. The parser removes the quotes, so a NUL, which
 * the file cannot contain, marks such a # beforehand.
 */
async function* marked(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '\n' // stands before the first line, and is taken away again
  let isFirst = true
  for await (const text of texts) {
    const whole = held + text
    held = /\n\ufeff?"?$/.exec(whole)?.[0] ?? ''
    const marks = whole.slice(0, whole.length - held.length).replaceAll(quotedSign, '$1\0#')
    if (marks) yield isFirst ? marks.slice(1) : marks
    isFirst &&= marks === ''
  }
  const last = isFirst ? held.slice(1) : held
  if (last) yield last
}

/** A # that begins a line and is inside quotes; the first line may have a byte order mark. */
const quotedSign = /(\n\ufeff?")#/g

/** Lets other work run between two pieces; after it, the parser has reported any error. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<SourceRow[]> {
  let parser: Parser | undefined
  let fault: unknown
  let line = 1
  const taken = (): SourceRow[] => {
    const rows: SourceRow[] = []
    for (let cells = parser?.read(); cells; cells = parser?.read()) {
      const further = linesWithin(cells)
      if (isNote(cells) && further > 0) throw badFile(swallowed(line, further))
      if (!isBlank(cells)) rows.push({ line, cells: unmarked(cells) })
      line += 1 + further
    }
    return rows
  }
  const told = async () => {
    await turn()
    if (fault) throw badFile(faultOf(fault))
  }
  try {
    for await (const text of marked(texts)) {
      const above = parser ? '' : notesAbove(text)
      line += above.split('\n').length - 1
      if (!parser) {
        parser = parserFor(text)
        parser.on('error', (error) => {
          fault = error
        })
      }
      parser.write(text.slice(above.length))
      yield taken()
      await told()
    }
    parser?.end()
    await told()
    yield taken()
  } finally {
    parser?.destroy()
  }
}

/**
 * What ends the lines of a file. Both marks of today end lines, since a file that was put together
 * from others may have both; only a file of an old Mac has lines that end in a return alone.
 */
const lineEndsIn = (text: string) =>
  /\r\n|[\r\n]/.exec(text)?.[0] === '\r' ? ['\r\n', '\r'] : ['\n', '\r\n']

const parserFor = (text: string) =>
  parse({
    delimiter: delimiterIn(text),
    record_delimiter: lineEndsIn(text),
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: longestRecord,
  })

/** A line that begins with #, unless that is a formula's error value such as #N/A. */
const isNote = ([first = '']: readonly string[]) =>
  first.startsWith('#') && !noValue.test(first.trim())

/** A note, or a line without anything in it. */
const isBlank = (cells: readonly string[]) =>
  isNote(cells) || cells.every((cell) => cell.trim() === '')

/** The lines up to the next quote may be rows; if a note swallowed them, nobody would notice. */
const swallowed = (line: number, further: number) =>
  `The note of line ${line} has a quote that is open to its end, and would take ${further} more ` +
  `line${further === 1 ? '' : 's'} along: close the quote, or take the note out.`

const unmarked = (cells: string[]) =>
  cells[0]?.startsWith('\0') ? [cells[0].slice(1), ...cells.slice(1)] : cells

/** The number of line breaks within quoted cells. */
const linesWithin = (cells: readonly string[]) =>
  cells.reduce(
    (count, cell) => (cell.includes('\n') ? count + cell.split('\n').length - 1 : count),
    0,
  )

function faultOf(error: unknown): string {
  const { code = '', lines: line } = error as { code?: string; lines?: number }
  if (!code.startsWith('CSV_')) throw error
  return `The file is not CSV: a quote is not closed, or a record is too long, at line ${line}.`
}

async function* lines(texts: AsyncIterable<string>): AsyncGenerator<SourceRow[]> {
  let line = 0
  let rest = ''
  const rowsOf = (text: string): SourceRow[] => {
    line++
    const trimmed = text.trim()
    return trimmed === '' || trimmed.startsWith('#') ? [] : [{ line, cells: [trimmed] }]
  }
  for await (const text of texts) {
    const pieces = (rest + text).split('\n')
    rest = pieces.pop() ?? ''
    if (rest.length > longestRecord) throw badFile(`Line ${line + 1} is too long.`)
    yield pieces.flatMap(rowsOf)
    await turn()
  }
  yield rowsOf(rest)
}
