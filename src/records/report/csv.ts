import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { harmless } from '../../platform/shape/harmless.ts'
import { type Column, type Row, type Table, totalLines } from './table.ts'

/**
 * Writes RFC 4180 in UTF-8, with a byte order mark: without it Excel assumes another encoding.
 * Figures are plain digits; the last lines hold the totals.
 */
export async function writeCsv(path: string, table: Table, rows: AsyncIterable<Row[]>) {
  await pipeline(Readable.from(lines(table, rows)), createWriteStream(path))
}

async function* lines(table: Table, rows: AsyncIterable<Row[]>) {
  const { columns } = table
  yield `\ufeff${line(columns.map(({ title }) => quoted(title)))}`
  for await (const batch of rows)
    yield batch.map((row) => line(columns.map((column) => cell(column, row[column.key])))).join('')
  for (const { label, row } of totalLines(table)) yield line(totalCells(columns, label, row))
}

const line = (cells: string[]) => `${cells.join(',')}\r\n`

function cell({ kind }: Column, value: string | number | null | undefined): string {
  if (value === null || value === undefined) return ''
  return kind === 'text' ? quoted(harmless(String(value))) : String(value)
}

const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/**
 * The cells of a total line; the label goes into the first column, which is never a total itself.
 */
const totalCells = (columns: readonly Column[], label: string, totals: Row) =>
  columns.map((column, i) => (i === 0 ? quoted(label) : cell(column, totals[column.key])))
