import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { SaxesParser } from 'saxes'
import yauzl from 'yauzl'
import { Refusal } from '../../platform/refusal.ts'
import { badFile, type Cell, type Source, type SourceRow } from './row.ts'
import { builtInFormats, numberOf, type Shown, shownBy } from './xlsx-cells.ts'

/**
 * Reads the first sheet of a workbook that is not hidden, as a stream. A workbook stores its texts
 * apart from the sheets, each text once, and may have as many texts as cells. So the texts go to a
 * temporary file, and memory holds only their positions.
 */
export function readXlsx(path: string): Source {
  const state = { read: 0, size: 1 }
  return { rows: rowsOf(path, state), progress: () => Math.min(1, state.read / state.size) }
}

type State = { read: number; size: number }

async function* rowsOf(path: string, state: State): AsyncGenerator<SourceRow[]> {
  const zip = await openZip(path).catch(notABook)
  const texts = openTexts(`${path}.texts`)
  try {
    const entries = await entriesOf(zip)
    const sheet = await firstSheet(zip, entries)
    state.size = sheet.uncompressedSize
    const styles = entries.get('xl/styles.xml')
    const shared = entries.get('xl/sharedStrings.xml')
    const shown = styles ? await shownByStyle(zip, styles) : new Map<number, Shown>()
    if (shared) await readTexts(zip, shared, texts)
    const firstDay = await firstDayOf(zip, entries)
    for await (const rows of sheetRows(zip, sheet, { shown, firstDay, texts, state })) yield rows
  } catch (error) {
    notABook(error)
  } finally {
    zip.close()
    await texts.close()
  }
}

function notABook(error: unknown): never {
  if (error instanceof Refusal || isOurs(error)) throw error
  throw badFile('The file is not a workbook (XLSX) that can be read.')
}

/** Whether an error is one of the operating system (such as ENOSPC), not a fault of the file. */
const isOurs = (error: unknown) => /^E[A-Z]+$/.test((error as { code?: string }).code ?? '')

const openZip = (path: string) =>
  new Promise<yauzl.ZipFile>((resolve, reject) => {
    yauzl.open(path, { lazyEntries: true, autoClose: false }, (error, zip) =>
      error ? reject(error) : resolve(zip),
    )
  })

type Entries = Map<string, yauzl.Entry>

/** A workbook has few parts; a file with more than this is not a workbook. */
const mostEntries = 1000

function entriesOf(zip: yauzl.ZipFile): Promise<Entries> {
  const entries: Entries = new Map()
  return new Promise((resolve, reject) => {
    zip.on('entry', (entry: yauzl.Entry) => {
      entries.set(entry.fileName.replace(/^\//, ''), entry)
      if (entries.size > mostEntries) reject(badFile('The file has too many parts.'))
      else zip.readEntry()
    })
    zip.on('end', () => resolve(entries))
    zip.on('error', reject)
    zip.readEntry()
  })
}

const bookIn = (entries: Entries) => entries.get('xl/workbook.xml')

/** The sheet with the first visible tab, whatever the name of its part. */
async function firstSheet(zip: yauzl.ZipFile, entries: Entries): Promise<yauzl.Entry> {
  const sheets = await attributesIn(zip, bookIn(entries), 'sheet')
  const first = sheets.find(({ state = 'visible' }) => state === 'visible')
  const id = Object.entries(first ?? {}).find(([name]) => name.endsWith(':id'))?.[1]
  const parts = await attributesIn(zip, entries.get('xl/_rels/workbook.xml.rels'), 'Relationship')
  const target = parts.find(({ Id }) => Id === id)?.Target ?? ''
  const path = target.startsWith('/') ? target.slice(1) : `xl/${target}`
  const entry = entries.get(path)
  if (!entry) throw badFile('The workbook has no sheet.')
  return entry
}

/** Days to add to a workbook's dates: workbooks from old Macs count days from 1904, not 1900. */
async function firstDayOf(zip: yauzl.ZipFile, entries: Entries): Promise<number> {
  const [settings] = await attributesIn(zip, bookIn(entries), 'workbookPr')
  return ['1', 'true'].includes(settings?.date1904 ?? '') ? 1462 : 0
}

/** The attributes of all tags with a name, in a part that is small enough to read whole. */
async function attributesIn(zip: yauzl.ZipFile, entry: yauzl.Entry | undefined, tag: string) {
  const found: Record<string, string>[] = []
  if (!entry) return found
  const parser = parserWith({
    open: (name, attributes) => {
      if (name === tag) found.push(attributes)
    },
  })
  for await (const piece of partOf(zip, entry)) parser.write(piece)
  return found
}

/** The largest growth of a part when unpacked; beyond it, the file is an attack on the disk. */
const mostSwelling = 1000
const mostBytes = 8 * 2 ** 30

async function* partOf(zip: yauzl.ZipFile, entry: yauzl.Entry): AsyncGenerator<string> {
  const { compressedSize, uncompressedSize } = entry
  if (uncompressedSize > mostBytes || uncompressedSize > (compressedSize + 1000) * mostSwelling)
    throw badFile('A part of the file is too large.')
  const stream = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error ? reject(error) : resolve(opened)))
  })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const piece of stream) yield decoder.decode(piece as Buffer, { stream: true })
}

type Handlers = {
  open?: (name: string, attributes: Record<string, string>) => void
  close?: (name: string) => void
  text?: (text: string) => void
}

const parserWith = ({ open, close, text }: Handlers) => {
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw badFile('The file holds definitions that a workbook has not.')
  })
  if (open) parser.on('opentag', (tag) => open(plain(tag.name), tag.attributes))
  if (close) parser.on('closetag', (tag) => close(plain(tag.name)))
  if (text) for (const kind of ['text', 'cdata'] as const) parser.on(kind, text)
  return parser
}

/** Removes the XML namespace prefix from a name. */
const plain = (name: string) => name.slice(name.indexOf(':') + 1)

/** The styles whose cells show something other than they hold, with how their formats show it. */
async function shownByStyle(zip: yauzl.ZipFile, entry: yauzl.Entry) {
  const formats = new Map(builtInFormats)
  const styles = new Map<number, Shown>()
  let inCells = false
  let style = 0
  const parser = parserWith({
    open: (name, attributes) => {
      const number = Number(attributes.numFmtId)
      const own = name === 'numFmt' && shownBy(attributes.formatCode ?? '')
      if (own) formats.set(number, own)
      if (name === 'cellXfs') inCells = true
      if (name === 'xf' && inCells) {
        const shown = formats.get(number)
        if (shown) styles.set(style, shown)
        style++
      }
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false
    },
  })
  for await (const piece of partOf(zip, entry)) parser.write(piece)
  return styles
}

/** Texts by number: the texts are in a file, their positions in memory. */
type Texts = {
  add: (text: string) => void
  get: (number: number) => string
  close(): Promise<void>
}

function openTexts(path: string): Texts {
  const file = openSync(path, 'w+', 0o600)
  let ends = new Float64Array(1024)
  let count = 0
  let pending: Buffer[] = []
  let pendingBytes = 0
  const flush = () => {
    for (const piece of pending) writeSync(file, piece)
    pending = []
    pendingBytes = 0
  }
  return {
    add: (text) => {
      const bytes = Buffer.from(text)
      if (count === ends.length) {
        const longer = new Float64Array(2 * count)
        longer.set(ends)
        ends = longer
      }
      ends[count] = (ends[count - 1] ?? 0) + bytes.length
      count++
      pending.push(bytes)
      pendingBytes += bytes.length
      if (pendingBytes > 2 ** 20) flush()
    },
    get: (number) => {
      if (pendingBytes > 0) flush()
      if (!(number >= 0 && number < count)) throw badFile('A cell names a text that is not there.')
      const start = ends[number - 1] ?? 0
      const bytes = Buffer.alloc((ends[number] ?? start) - start)
      readSync(file, bytes, 0, bytes.length, start)
      return bytes.toString()
    },
    close: async () => {
      closeSync(file)
      await rm(path, { force: true })
    },
  }
}

/** Whether the parser is within rPh, the pronunciation of a text, which is not part of the text. */
function spoken() {
  let isWithin = false
  return (name: string, opens: boolean) => {
    if (name === 'rPh') isWithin = opens
    return isWithin
  }
}

async function readTexts(zip: yauzl.ZipFile, entry: yauzl.Entry, texts: Texts) {
  let text = ''
  let inText = false
  const isSpoken = spoken()
  const parser = parserWith({
    open: (name) => {
      if (name === 'si') text = ''
      inText = !isSpoken(name, true) && name === 't'
    },
    close: (name) => {
      if (name === 'si') texts.add(text)
      isSpoken(name, false)
      inText = false
    },
    text: (piece) => {
      if (inText) text += piece
    },
  })
  for await (const piece of partOf(zip, entry)) parser.write(piece)
}

type Reading = {
  shown: ReadonlyMap<number, Shown>
  firstDay: number
  texts: Texts
  state: State
}
type Open = { column: number; type: string; style: number; value: string; isFormula: boolean }

async function* sheetRows(
  zip: yauzl.ZipFile,
  entry: yauzl.Entry,
  reading: Reading,
): AsyncGenerator<SourceRow[]> {
  let rows: SourceRow[] = []
  let line = 0
  let cells: Cell[] = []
  let cell: Open | undefined
  let inValue = false
  const isSpoken = spoken()
  const parser = parserWith({
    open: (name, attributes) => {
      const isPartOfValue = !isSpoken(name, true)
      if (name === 'row') {
        line = Number(attributes.r ?? line + 1)
        cells = []
      } else if (name === 'c') {
        const { r, t = 'n', s } = attributes
        const column = r === undefined ? cells.length : columnOf(r)
        cell = { column, type: t, style: Number(s ?? -1), value: '', isFormula: false }
      } else {
        inValue = isPartOfValue && (name === 'v' || name === 't')
        if (name === 'f' && cell) cell.isFormula = true
      }
    },
    close: (name) => {
      inValue = false
      isSpoken(name, false)
      if (name === 'c' && cell) {
        while (cells.length < cell.column) cells.push('')
        cells[cell.column] = cellOf(cell, reading)
      }
      if (name === 'row' && cells.some((one) => one !== '')) rows.push({ line, cells })
    },
    text: (piece) => {
      if (inValue && cell) cell.value += piece
    },
  })
  for await (const piece of partOf(zip, entry)) {
    parser.write(piece)
    reading.state.read += piece.length
    yield rows
    rows = []
  }
}

/** The index of a column, counted from 0: 54 for BC12, which is in the 55th column. */
function columnOf(reference: string): number {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0] ?? ''
  const column = [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0)
  if (column === 0 || column > 16_384) throw badFile(`${reference} is no cell of a sheet.`)
  return column - 1
}

function cellOf({ type, style, value, isFormula }: Open, reading: Reading): Cell {
  const { shown, firstDay, texts } = reading
  // A formula that was never calculated has no value, but its cell is not empty.
  if (value === '') return isFormula && type === 'n' ? '#N/A' : ''
  if (type === 's') return texts.get(Number(value)).trim()
  if (type === 'b') return value === '1' ? 'true' : 'false'
  if (type !== 'n') return value.trim()
  const as = shown.get(style)
  return as ? as(value, firstDay) : numberOf(value)
}
