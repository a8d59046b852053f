import { harmless } from '../../../src/platform/shape/harmless.ts'
import type { Params } from '../api/client.ts'
import { pagesOf } from '../api/pages.ts'
import type { Column } from './columns.ts'

/** A cell that begins like a formula is made harmless, as the service's own CSV does. */
const cell = (text: string) => {
  const safe = harmless(text)
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Every row of a view, as CSV with the columns in view. */
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

/** Figures without what makes them readable, so that a spreadsheet takes them as figures. */
const raw = (text: string) =>
  /^−?[\d,]+(\.\d+)?$/.test(text) ? text.replaceAll(',', '').replace('−', '-') : text

export function save(blob: Blob, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
