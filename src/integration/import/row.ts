import { Refusal } from '../../platform/refusal.ts'

/** A row as it is in the file: cells under headings, or one cell with a line of JSON. */
export type SourceRow = {
  /** The line of the file in which the row begins, counted from 1. */
  line: number
  /** Texts, or days if the spreadsheet marks the cell as a date; empty cells are ''. */
  cells: readonly Cell[]
}
export type Cell = string | { day: string }

export const textOf = (cell: Cell | undefined) => (typeof cell === 'object' ? cell.day : cell) ?? ''

/** Error values that spreadsheets write for a failed formula. No name or reference looks so. */
export const noValue = /^#(?:N\/A|REF!|DIV\/0!|VALUE!|NAME\?|NUM!|NULL!|SPILL!|CALC!|FIELD!)$/

/** A file that is read from its beginning, some rows at a time, with constant memory. */
export type Source = {
  rows: AsyncIterable<SourceRow[]>
  /** How much of the file has been read, from 0 to 1. */
  progress: () => number
}

/** A refusal of the whole file, for a fault that cannot be attributed to single rows. */
export const badFile = (message: string) =>
  new Refusal(400, [{ code: 'bad_file', field: 'content', message }])
