import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Problem } from '../../platform/refusal.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { verdictColumns, verdictsIn } from './columns.ts'
import { csvLine } from './csv-write.ts'
import { type KeptRefusal, type Order, problemsIn, refusalsOf } from './order.ts'
import { type SourceRow, textOf } from './row.ts'
import { openSource } from './source.ts'
import { writeSheet } from './xlsx-write.ts'

type Stream = (statement: Fragment) => AsyncGenerator<KeptRefusal[]>

/**
 * Writes the refused rows in their original form and format, with the problems of each row. The
 * file can be corrected and sent again: an import ignores the columns that are added here.
 */
export async function writeErrors(to: string, file: Order & { path: string }, stream: Stream) {
  const rows = refusedRows(file, stream(refusalsOf(file)))
  if (file.format === 'xlsx') return writeSheet(to, tableOf(rows))
  const texts = file.format === 'csv' ? csvOf(rows) : jsonOf(rows)
  await pipeline(Readable.from(texts), createWriteStream(to))
}

type Refused = { row: SourceRow; problems: Problem[] | undefined }

/** The head, and every row whose line was refused; both lists are in the order of the lines. */
async function* refusedRows(
  file: Order & { path: string },
  batches: AsyncGenerator<KeptRefusal[]>,
): AsyncGenerator<Refused> {
  const refusals = each(batches)
  let next = await refusals.next()
  let isHead = file.format !== 'jsonl'
  try {
    for await (const rows of openSource(file).rows)
      for (const row of rows) {
        if (isHead) yield { row, problems: undefined }
        isHead = false
        if (next.done) return // the rest of the file may be unreadable
        if (next.value.line !== row.line) continue
        yield { row, problems: problemsIn(next.value) }
        next = await refusals.next()
      }
  } finally {
    await refusals.return(undefined)
  }
}

async function* each<T>(batches: AsyncIterable<T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch
}

/** All problems of a row in one line, so that the file has each row only once. */
const verdictOf = (line: number, problems: readonly Problem[]) => ({
  line,
  field: [...new Set(problems.flatMap(({ field }) => field ?? []))].join('; '),
  code: [...new Set(problems.map(({ code }) => code))].join('; '),
  message: problems.map(({ message }) => message).join(' '),
})

/** The cells of a table, without verdict columns from an earlier attempt. */
async function* tableOf(rows: AsyncIterable<Refused>): AsyncGenerator<string[]> {
  let [verdicts, width] = [0, 0]
  for await (const { row, problems } of rows) {
    const cells = row.cells.map(textOf)
    if (!problems) {
      verdicts = verdictsIn(cells)
      width = cells.length
      yield [...verdictColumns, ...cells.slice(verdicts)]
      continue
    }
    const { line, field, code, message } = verdictOf(row.line, problems)
    // A row with too many cells keeps them all: otherwise nobody could correct it.
    const own = Array.from(
      { length: Math.max(width, cells.length) - verdicts },
      (_, i) => cells[verdicts + i] ?? '',
    )
    yield [String(line), field, code, message, ...own]
  }
}

async function* csvOf(rows: AsyncIterable<Refused>) {
  yield '\ufeff'
  for await (const cells of tableOf(rows)) yield csvLine(cells)
}

/** Verdicts of an earlier attempt, which are removed: JSON with a name given twice is refused. */
const earlierVerdict = new RegExp(
  `^\\{\\s*"line"\\s*:\\s*\\d+${verdictColumns
    .slice(1)
    .map((name) => `\\s*,\\s*"${name}"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*"`)
    .join('')}\\s*(?:,\\s*|(?=\\}))`,
)

/** The original line with the verdict's members in front; a line that is no object as a text. */
async function* jsonOf(rows: AsyncIterable<Refused>) {
  for await (const { row, problems = [] } of rows) {
    const told = JSON.stringify(verdictOf(row.line, problems)).slice(0, -1)
    const text = textOf(row.cells[0]).replace(earlierVerdict, '{')
    const rest = /^\{\s*\}$/.test(text) ? '}' : `,${text.slice(1)}`
    yield isObject(text) ? `${told}${rest}\n` : `${told},"given":${JSON.stringify(text)}}\n`
  }
}

function isObject(text: string): boolean {
  try {
    JSON.parse(text)
    return text.startsWith('{')
  } catch {
    return false
  }
}
