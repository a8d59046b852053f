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

/** Bytes that are no text in the encoding are told, never replaced by question marks. */
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

/** What begins so is UTF-8, whatever is said: so are the refused rows of a file that was not. */
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

// Node 20 reads these 32 bytes as Latin-1 does, in which they are no letters.
const beyondLatin1 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'
const windows1252: Decode = (piece) =>
  (piece?.toString('latin1') ?? '').replaceAll(
    /[\u0080-\u009f]/g,
    (letter) => beyondLatin1[letter.charCodeAt(0) - 0x80] ?? letter,
  )

/** The longest record there may be; a quote that is never closed would swallow the file. */
const longestRecord = 1_000_000

/**
 * The lines above the head. They do not go to the parser, which takes the length of the first line
 * for that of all, and is slow about each that differs: 40 µs.
 */
const notesAbove = (text: string) => /^\ufeff?(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)?.[0] ?? ''

/** The separator of a file is that which its first line has most of. */
function delimiterIn(text: string): string {
  const [first = ''] = text.slice(notesAbove(text).length).split('\n', 1)
  const counted = [',', ';', '\t'].map((mark) => ({ mark, times: first.split(mark).length }))
  return counted.sort((one, other) => other.times - one.times)[0]?.mark ?? ','
}

/**
 * A # inside the quotes that a line begins with is no note: a NUL, which no text has, tells them
 * apart when the quotes are gone.
 */
async function* marked(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let held = ''
  for await (const text of texts) {
    const whole = held + text
    held = /\n"?$/.exec(whole)?.[0] ?? ''
    yield whole.slice(0, whole.length - held.length).replaceAll('\n"#', '\n"\0#')
  }
  if (held) yield held
}

/** Others have their turn between two pieces; what went wrong in one is known by then. */
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
        parser = parserFor(delimiterIn(text))
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

const parserFor = (delimiter: string) =>
  parse({
    delimiter,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: longestRecord,
  })

/** A line that begins with #, unless that is a formula's: #N/A. */
const isNote = ([first = '']: readonly string[]) =>
  first.startsWith('#') && !noValue.test(first.trim())

/** A note, or a line without anything in it. */
const isBlank = (cells: readonly string[]) =>
  isNote(cells) || cells.every((cell) => cell.trim() === '')

/** What follows a note up to the next quote may be rows, which nobody would miss. */
const swallowed = (line: number, further: number) =>
  `The note of line ${line} has a quote that is open to its end, and would take ${further} more ` +
  `line${further === 1 ? '' : 's'} along: close the quote, or take the note out.`

const unmarked = (cells: string[]) =>
  cells[0]?.startsWith('\0') ? [cells[0].slice(1), ...cells.slice(1)] : cells

/** A quoted cell may go over several lines. */
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
