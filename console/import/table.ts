import { parse } from 'csv-parse/browser/esm/sync'

/** The columns that the service puts before the original columns of a refused row. */
export const verdictColumns = ['line', 'field', 'code', 'message']

export type Table = { head: string[]; rows: string[][] }

/**
 * The separator of a file: of comma, semicolon and tab the most frequent in the first line, as the
 * service decides it.
 */
export function separatorOf(text: string): string {
  const [first = ''] = text.split('\n').filter((line) => line.trim() && !line.startsWith('#'))
  const times = (mark: string) => first.split(mark).length
  return [',', ';', '\t'].reduce((best, mark) => (times(mark) > times(best) ? mark : best))
}

export function readTable(text: string, mostRows = Number.POSITIVE_INFINITY): Table {
  const [head = [], ...rows] = parse(text, {
    bom: true,
    comment: '#',
    comment_no_infix: true,
    delimiter: separatorOf(text),
    relax_column_count: true,
    skip_empty_lines: true,
    ...(Number.isFinite(mostRows) && { to: mostRows + 1 }),
  }) as string[][]
  return { head, rows }
}

/** Quotes a cell that contains any of the separators. */
export const quoted = (text: string) =>
  /[",;\t\n\r]|^#/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

export const writeTable = ({ head, rows }: Table) =>
  `${[head, ...rows].map((row) => row.map(quoted).join(',')).join('\r\n')}\r\n`

/** The bytes that are read of a file: enough for any header line. */
const headBytes = 65_536
/**
 * Reading the header of a workbook unpacks all of it, so larger workbooks are left to the service.
 */
const mostWorkbook = 10 * 2 ** 20

/** The rows of a workbook; the reader is loaded only when a workbook is opened. */
async function workbookRows(file: Blob): Promise<string[][]> {
  const { readWorkbook } = await import('./workbook.ts')
  return readWorkbook(new Uint8Array(await file.arrayBuffer()))
}

/** Reads the file of refused rows, which has the format of the import: CSV or a workbook. */
export async function readRefused(file: Blob, format: string, mostRows: number): Promise<Table> {
  if (format !== 'xlsx') return readTable(await file.text(), mostRows)
  const [head = [], ...rows] = (await workbookRows(file)).slice(0, mostRows + 1)
  return { head, rows: rows.map((row) => head.map((_, i) => row[i] ?? '')) }
}

const named = (head: readonly string[]) => head.map((name) => name.trim()).filter(Boolean)

/** The headings of a file, or none where only the service can read it. */
export async function headingsOf(file: File, encoding: string): Promise<string[]> {
  if (/\.xlsx$/i.test(file.name) && file.size <= mostWorkbook) {
    // A workbook that cannot be read here is refused by the service with a reason.
    const rows = await workbookRows(file).catch(() => [])
    return named(rows.find((row) => row.some(Boolean)) ?? [])
  }
  if (!/\.(csv|txt|tsv)$/i.test(file.name)) return []
  const bytes = await file.slice(0, headBytes).arrayBuffer()
  const lines = new TextDecoder(encoding).decode(bytes).split('\n')
  const first = lines.find((line) => line.trim() && !line.startsWith('#')) ?? ''
  return named(readTable(first).head)
}
