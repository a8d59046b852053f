import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { harmless } from '../../platform/shape/harmless.ts'
import { type Column, type Row, type Table, totalLines } from './table.ts'
import {
  contentTypes,
  relations,
  stylesOf,
  workbook,
  workbookRelations,
  xmlHead,
} from './xlsx-parts.ts'

/** The most rows in one sheet; the format ends at 1,048,576. */
const mostRows = 1_000_000

/**
 * Writes a workbook as its rows arrive: a sheet of the table for every million rows, and a sheet
 * about the report. Figures are stored digit by digit, dates as day numbers.
 */
export async function writeXlsx(
  path: string,
  table: Table,
  rows: AsyncIterable<Row[]>,
  mtime: Date,
) {
  const zip = new ZipFile()
  const sheets = Math.max(1, Math.ceil(table.count / mostRows))
  const names = Array.from({ length: sheets }, (_, i) => (i === 0 ? 'Report' : `Report ${i + 1}`))
  const add = (name: string, text: string) => zip.addBuffer(Buffer.from(text), name, { mtime })
  add('[Content_Types].xml', contentTypes(sheets + 1))
  add('_rels/.rels', relations)
  add('xl/workbook.xml', workbook([...names, 'About'], columnName(table.columns.length)))
  add('xl/_rels/workbook.xml.rels', workbookRelations(sheets + 1))
  add('xl/styles.xml', stylesOf(table.columns))
  const cursor = rowByRow(rows)
  const failed = new Promise<never>((_, reject) => zip.on('error', reject))
  for (let i = 1; i <= sheets; i++)
    zip.addReadStreamLazy(`xl/worksheets/sheet${i}.xml`, { mtime }, (take) => {
      const sheet = Readable.from(sheetOf(table, cursor, i === sheets))
      sheet.on('error', (error) => zip.emit('error', error))
      take(null, sheet)
    })
  add(`xl/worksheets/sheet${sheets + 1}.xml`, aboutSheet(table))
  zip.end()
  const output = zip.outputStream as Readable
  await Promise.race([pipeline(output, createWriteStream(path)), failed]).catch((error) => {
    output.destroy()
    throw error
  })
}

async function* rowByRow(batches: AsyncIterable<Row[]>) {
  for await (const batch of batches) yield* batch
}

/**
 * Rows joined into one piece of text: many small pieces would cost more than the text they carry.
 */
const rowsPerPiece = 500

async function* sheetOf(table: Table, rows: AsyncGenerator<Row>, isLast: boolean) {
  const { columns } = table
  yield sheetHead(columns)
  yield rowOf(1, columns, (column, _i, at) => textCell(at, column.title, headStyle))
  let number = 1
  let piece = ''
  for (let next = await nextOf(rows); next; ) {
    piece += rowOf(++number, columns, (column, i, at) =>
      cell(at, column, next![column.key], bodyStyle(i)),
    )
    if (number % rowsPerPiece === 0) {
      yield piece
      piece = ''
    }
    next = number > mostRows ? undefined : await nextOf(rows)
  }
  yield piece
  for (const [n, { label, row }] of (isLast ? totalLines(table) : []).entries())
    yield rowOf(number + 1 + n, columns, (column, i, at) =>
      i === 0
        ? textCell(at, label, totalStyle(columns, 0))
        : cell(at, column, row[column.key], totalStyle(columns, i)),
    )
  const last = `${columnName(columns.length)}${number}`
  yield `</sheetData><autoFilter ref="A1:${last}"/></worksheet>`
}

async function nextOf(rows: AsyncGenerator<Row>): Promise<Row | undefined> {
  const { value, done } = await rows.next()
  return done ? undefined : value
}

const headStyle = 1
const bodyStyle = (column: number) => 2 + column
const totalStyle = (columns: readonly Column[], column: number) => 2 + columns.length + column

const rowOf = (
  number: number,
  columns: readonly Column[],
  write: (column: Column, i: number, at: string) => string,
) => {
  const cells = columns.map((column, i) => write(column, i, `${columnName(i + 1)}${number}`))
  return `<row r="${number}">${cells.join('')}</row>`
}

function cell(
  at: string,
  { kind }: Column,
  value: string | null | undefined,
  style: number,
): string {
  if (value === null || value === undefined) return `<c r="${at}" s="${style}"/>`
  if (kind === 'number') return `<c r="${at}" s="${style}"><v>${value}</v></c>`
  if (kind === 'date') return `<c r="${at}" s="${style}"><v>${dayNumber(value)}</v></c>`
  return textCell(at, harmless(value), style)
}

const textCell = (at: string, text: string, style: number) =>
  `<c r="${at}" s="${style}" t="inlineStr"><is><t xml:space="preserve">` +
  `${escaped(text)}</t></is></c>`

/** Days since 30 December 1899, which is how spreadsheets count dates from March 1900 on. */
const dayNumber = (date: string) =>
  Math.round((Date.parse(`${date}T00:00:00Z`) - Date.UTC(1899, 11, 30)) / 86_400_000)

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold these
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

export const escaped = (text: string) =>
  text.replace(notXml, '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A to Z, AA … */
function columnName(count: number): string {
  const letter = String.fromCharCode(65 + ((count - 1) % 26))
  return count > 26 ? columnName(Math.floor((count - 1) / 26)) + letter : letter
}

const sheetHead = (columns: readonly Column[]) => {
  const widths = columns.map(
    ({ width }, i) =>
      `<col min="${i + 1}" max="${i + 1}" width="${Math.max(10, width * 1.3)}" customWidth="1"/>`,
  )
  return `${xmlHead}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft"
 state="frozen"/></sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData>`
}

function aboutSheet({ title, about, count }: Table): string {
  const lines: [string, string][] = [
    ['Report', title],
    ...about.map(([label, value]): [string, string] => [label, harmless(value)]),
    ['Rows', String(count)],
  ]
  const rows = lines.map(
    ([label, value], i) =>
      `<row r="${i + 1}">${textCell(`A${i + 1}`, label, headStyle)}` +
      `${textCell(`B${i + 1}`, value, 0)}</row>`,
  )
  return `${xmlHead}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<cols><col min="1" max="1" width="20" customWidth="1"/><col min="2" max="2" width="60"
 customWidth="1"/></cols><sheetData>${rows.join('')}</sheetData></worksheet>`
}
