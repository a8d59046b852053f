import { Refusal } from '../../platform/refusal.ts'

/** A row of a file as it stands there: cells under headings, or a line of JSON. */
export type SourceRow = {
  /** The line of the file that it begins in; the first is 1. */
  line: number
  /** Texts, and days where a spreadsheet says that a cell is one; empty cells are ''. */
  cells: readonly Cell[]
}
export type Cell = string | { day: string }

export const textOf = (cell: Cell | undefined) => (typeof cell === 'object' ? cell.day : cell) ?? ''

/** What spreadsheets write where a formula has come to nothing: nobody's name or reference. */
export const noValue = /^#(?:N\/A|REF!|DIV\/0!|VALUE!|NAME\?|NUM!|NULL!|SPILL!|CALC!|FIELD!)$/

/** A file that is read from its beginning, some rows at a time, in memory that does not grow. */
export type Source = {
  rows: AsyncIterable<SourceRow[]>
  /** How much of the file has been read, from 0 to 1. */
  progress: () => number
}

/** A fault of the file as a whole: no row of it can be told apart from it. */
export const badFile = (message: string) =>
  new Refusal(400, [{ code: 'bad_file', field: 'content', message }])
