import { harmless } from '../../../src/platform/shape/harmless.ts'
import type { Params } from '../api/client.ts'
import { pagesOf } from '../api/pages.ts'
import type { Column } from './columns.ts'

/** Escapes cells that begin like a formula, as the CSV files of the service do. */
const cell = (text: string) => {
  const safe = harmless(text)
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** All rows of a view as CSV, with the visible columns. */
export async function csvOf<Row>(
  path: string,
  params: Params,
  columns: Column<Row>[],
  onRows: (count: number) => void,
): Promise<Blob> {
  const lines = [columns.map(({ title }) => cell(title)).join(',')]
  for await (const rows of pagesOf<Row>(path, params)) {
    for (const row of rows) lines.push(columns.map(({ text }) => cell(raw(text(row)))).join(','))
    onRows(lines.length - 1)
  }
  return new Blob([`\uFEFF${lines.join('\r\n')}\r\n`], { type: 'text/csv' })
}

/** Removes thousands separators and typographic minus signs, so that spreadsheets read figures. */
const raw = (text: string) =>
  /^−?[\d,]+(\.\d+)?$/.test(text) ? text.replaceAll(',', '').replace('−', '-') : text

export function save(blob: Blob, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
