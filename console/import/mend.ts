import { parse } from 'csv-parse/browser/esm/sync'
import { quoted, separatorOf, verdictColumns } from './table.ts'

/** A corrected cell: its line in the file, its place among the file's own columns, and its text. */
export type Mended = { line: number; column: number; text: string }

/** Larger files must be corrected at their source, since the browser rewrites a file as a whole. */
const most = 10 * 2 ** 20
const isWorkbook = ({ name }: File) => /\.xlsx$/i.test(name)

export const canMend = (file: File) =>
  file.size <= most && (isWorkbook(file) || /\.(csv|txt|tsv)$/i.test(file.name))

/** The whole file with the corrected cells; every other line keeps its position. */
export async function mendFile(
  file: File,
  encoding: string,
  mended: readonly Mended[],
): Promise<File> {
  const bytes = await file.arrayBuffer()
  if (!isWorkbook(file))
    return new File([mendText(new TextDecoder(encoding).decode(bytes), mended)], file.name)
  const { mendWorkbook } = await import('./workbook.ts')
  return new File([mendWorkbook(new Uint8Array(bytes), mended)], file.name)
}

/** The indexes of the file's own columns, without the verdict columns of an earlier check. */
export const ownColumns = (head: readonly string[]) =>
  head.flatMap((name, i) => (verdictColumns.includes(name.trim().toLowerCase()) ? [] : [i]))

/** Comment lines above the header, which count as lines but are not read. */
const notesAbove = /^(?:[ \t]*(?:#[^\n]*)?\n)*/

const isBlank = (cells: readonly string[]) =>
  cells[0]?.startsWith('#') || cells.every((cell) => cell.trim() === '')

/** The number of lines a row takes: a quoted cell may contain line breaks. */
const linesOf = (cells: readonly string[]) =>
  cells.reduce((count, cell) => count + cell.split('\n').length - 1, 1)

/** Counts lines as the service does, since its errors name the rows by line number. */
function mendText(text: string, mended: readonly Mended[]): string {
  const above = notesAbove.exec(text)?.[0] ?? ''
  const delimiter = separatorOf(text)
  const records = parse(text.slice(above.length), {
    ...{ delimiter, bom: true, relax_column_count: true, relax_quotes: true },
  }) as string[][]
  let line = above.split('\n').length
  let own: number[] | undefined
  const rows = records.map((cells) => {
    const changes = mended.filter((one) => one.line === line)
    line += linesOf(cells)
    if (!own && !isBlank(cells)) own = ownColumns(cells)
    const row = [...cells]
    for (const { column, text: mendedText } of changes) {
      const at = own?.[column] ?? column
      while (row.length < at) row.push('')
      row[at] = mendedText
    }
    return row.map(quoted).join(delimiter)
  })
  return `${above}${rows.join('\r\n')}\r\n`
}
