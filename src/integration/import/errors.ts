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
 * The refused rows as they came in, in the format that they came in, with what is wrong with each:
 * to be mended and sent again, which takes no notice of the columns that are added here.
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
        if (next.done) return // beyond, the file may be what nobody can read
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

/** Everything that is wrong with a row stands in its line, so that each row is there once. */
const verdictOf = (line: number, problems: readonly Problem[]) => ({
  line,
  field: [...new Set(problems.flatMap(({ field }) => field ?? []))].join('; '),
  code: [...new Set(problems.map(({ code }) => code))].join('; '),
  message: problems.map(({ message }) => message).join(' '),
})

/** The cells of a table, without verdicts that it may have brought from an earlier attempt. */
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
    // A row that is too long keeps what it has too much of: nobody could mend it otherwise.
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

/** Verdicts of an earlier attempt at the beginning of a line; a name given twice is refused. */
const earlierVerdict = new RegExp(
  `^\\{\\s*"line"\\s*:\\s*\\d+${verdictColumns
    .slice(1)
    .map((name) => `\\s*,\\s*"${name}"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*"`)
    .join('')}\\s*(?:,\\s*|(?=\\}))`,
)

/** The line as it was, with members before its own; a line that is no object is told as a text. */
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
