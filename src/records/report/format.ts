import { safeName } from '../../platform/files/name.ts'
import { writeCsv } from './csv.ts'
import { writeJson } from './json.ts'
import { writePdf } from './pdf.ts'
import type { Format, TableFormat } from './schema.ts'
import type { Row, Table } from './table.ts'
import { writeXlsx } from './xlsx.ts'

/**
 * Writes a table to a file as its rows arrive, without keeping them. Where a format states when the
 * file was made, it uses the moment whose state the report shows: the same order gives the same
 * bytes.
 */
export type Writer = (
  path: string,
  table: Table,
  rows: AsyncIterable<Row[]>,
  moment: Date,
) => Promise<void>

export const writers: Record<TableFormat, Writer> = {
  csv: writeCsv,
  json: writeJson,
  xlsx: writeXlsx,
  pdf: writePdf,
}

export const typeOfFormat: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
  zip: 'application/zip',
}

export const fileNameOf = (name: string, format: Format) => `${safeName(name)}.${format}`
