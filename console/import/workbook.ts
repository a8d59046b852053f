import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { type Mended, ownColumns } from './mend.ts'

type Parts = { [name: string]: Uint8Array }

const xml = (bytes: Uint8Array | undefined) =>
  new DOMParser().parseFromString(bytes ? strFromU8(bytes) : '<none/>', 'application/xml')

/** All elements of a local name, whatever namespace prefix the writing program used. */
const all = (of: Document | Element, name: string) => [...of.getElementsByTagNameNS('*', name)]

/**
 * The rows of a workbook's first sheet as their texts: a number stays the digits in the file and
 * never becomes a JavaScript number. Dates stay day numbers; the service knows the styles and
 * converts them.
 */
export function readWorkbook(bytes: Uint8Array): string[][] {
  const parts = unzipSync(bytes, { filter: ({ name }) => /\.(xml|rels)$/.test(name) })
  const shared = all(xml(parts['xl/sharedStrings.xml']), 'si').map(textIn)
  return all(xml(parts[firstSheet(parts)]), 'row').map((row) => {
    const cells: string[] = []
    for (const [at, cell] of cellsOf(row)) {
      while (cells.length < at) cells.push('')
      cells[at] = cellText(cell, shared)
    }
    return cells
  })
}

/** The cells of a row by column; a cell without a reference follows the cell before it. */
function cellsOf(row: Element): Map<number, Element> {
  const cells = new Map<number, Element>()
  let next = 0
  for (const cell of all(row, 'c')) {
    const at = columnOf(cell.getAttribute('r')) ?? next
    cells.set(at, cell)
    next = at + 1
  }
  return cells
}

/**
 * The workbook with texts in the corrected cells; everything else, including date formats, is kept.
 */
export function mendWorkbook(
  bytes: Uint8Array,
  mended: readonly Mended[],
): Uint8Array<ArrayBuffer> {
  const own = ownColumns(readWorkbook(bytes).find((row) => row.some(Boolean)) ?? [])
  const parts = unzipSync(bytes)
  const name = firstSheet(parts)
  const sheet = xml(parts[name])
  let line = 0
  for (const row of all(sheet, 'row')) {
    line = Number(row.getAttribute('r') ?? line + 1)
    for (const one of mended)
      if (one.line === line) write(row, own[one.column] ?? one.column, one.text)
  }
  parts[name] = strToU8(new XMLSerializer().serializeToString(sheet))
  return zipSync(parts) as Uint8Array<ArrayBuffer>
}

/** Writes a text into a cell; a new cell is inserted before the cells of later columns. */
function write(row: Element, column: number, text: string) {
  const make = (name: string) => row.ownerDocument.createElementNS(row.namespaceURI, name)
  const cells = cellsOf(row)
  const cell = cells.get(column) ?? make('c')
  if (!cells.has(column)) {
    const later = [...cells].find(([at]) => at > column)?.[1]
    // Give every cell a reference first: cells without one would move by a column when one is
    // inserted.
    for (const [at, other] of cells) other.setAttribute('r', referenceOf(at, row))
    row.insertBefore(cell, later ?? null)
    cell.setAttribute('r', referenceOf(column, row))
  }
  const shown = make('t')
  shown.textContent = text
  shown.setAttribute('xml:space', 'preserve')
  const inline = make('is')
  inline.append(shown)
  cell.replaceChildren(inline)
  cell.setAttribute('t', 'inlineStr')
  cell.removeAttribute('s')
}

/** Column 54, counted from 0, of row 12 is BC12. */
function referenceOf(column: number, row: Element): string {
  let letters = ''
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters
  return `${letters}${row.getAttribute('r') ?? ''}`
}

/** The part of the first sheet in tab order, whatever the name of the part. */
function firstSheet(parts: Parts): string {
  const [sheet] = all(xml(parts['xl/workbook.xml']), 'sheet')
  const id = [...(sheet?.attributes ?? [])].find(({ name }) => name.endsWith(':id'))?.value
  const target = all(xml(parts['xl/_rels/workbook.xml.rels']), 'Relationship')
    .find((one) => one.getAttribute('Id') === id)
    ?.getAttribute('Target')
  return target?.startsWith('/') ? target.slice(1) : `xl/${target}`
}

/** BC12 is in column 54, counted from 0. */
function columnOf(reference: string | null): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (!letters) return undefined
  return [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

/** The text of an element, without phonetic runs (rPh), which spell how a name is pronounced. */
const textIn = (of: Element) =>
  all(of, 't')
    .filter((one) => one.parentElement?.localName !== 'rPh')
    .map((one) => one.textContent ?? '')
    .join('')

function cellText(cell: Element, shared: readonly string[]): string {
  const type = cell.getAttribute('t')
  if (type === 'inlineStr') return textIn(cell)
  const value = all(cell, 'v')[0]?.textContent ?? ''
  return type === 's' ? (shared[Number(value)] ?? '') : value
}
