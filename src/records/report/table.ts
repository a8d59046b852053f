import sql, { join, raw } from 'sql-template-tag'
import type { Fragment, Snapshot } from '../../platform/sql/handle.ts'

/** A report as a table, whatever the format it is written in: the same rows in each. */
export type Column = {
  key: string
  title: string
  kind: 'text' | 'number' | 'date'
  /** Its share of a page's width. */
  width: number
  /** Figures after the point in spreadsheets; the digits themselves come from PostgreSQL. */
  decimals?: number
  /** Summed up at the end; with a name, only where all rows have the same value there. */
  total?: true | string
  /** Of the sum: the name of a value that is true for the rows that are added up. */
  adds?: string
}

export type Row = Record<string, string | null>

export type Chart = { title: string; points: { date: string; value: string }[] }

export type Table = {
  title: string
  /** Label and value, for the head of the report. */
  about: readonly (readonly [string, string])[]
  columns: readonly Column[]
  select: Fragment
  order: Fragment
  count: number
  /** The sums of each class, where there are several. */
  classTotals: { class: string; row: Row }[]
  /** The sums of everything that may be added up. */
  totals: Row | undefined
  /** On one page across; a wide table lies on its side. */
  landscape: boolean
  chart?: Chart
}

export type Sketch = Omit<Table, 'count' | 'classTotals' | 'totals' | 'landscape'> & {
  /** Rows have a class, and units are added up for each of them. */
  byClass?: true
  /** Where a sum of the column would be wrong (a percentage of rounded ones): by class. */
  totals?: Fragment
}

/** Counts the rows of a report and adds them up, in the snapshot they will be read from. */
export async function tableOf(snapshot: Snapshot, sketch: Sketch): Promise<Table> {
  const { columns, select, byClass, totals: own, ...rest } = sketch
  const sums = columns.flatMap((column) => (column.total ? [sumOf(column, column.total)] : []))
  const [row] = await snapshot.query<Row & { rows: number }>(sql`
    select ${join([sql`count(*)::int as rows`, ...sums])} from (${select}) r`)
  const { rows: count, ...summed } = row!
  const classes = byClass ? await classesOf(snapshot, select, sums, own) : []
  const totals = classes.length === 1 ? classes[0]!.row : filled(summed)
  const landscape = columns.reduce((width, column) => width + column.width, 0) > 60
  const classTotals = classes.length > 1 ? classes : []
  return { ...rest, columns, select, count, classTotals, totals, landscape }
}

const filled = (row: Row) => (Object.values(row).some((value) => value !== null) ? row : undefined)

async function classesOf(
  snapshot: Snapshot,
  select: Fragment,
  sums: Fragment[],
  own: Fragment | undefined,
) {
  const added = await snapshot.query<Row>(sql`
    select ${join([sql`r.class`, ...sums])} from (${select}) r group by r.class order by r.class`)
  const replaced = own ? await snapshot.query<Row>(own) : []
  return added.map((row) => {
    const name = row.class ?? ''
    return { class: name, row: { ...row, ...replaced.find((one) => one.class === name) } }
  })
}

/** The lines under a table: one for each class, and one for all where they can be added up. */
export const totalLines = ({ classTotals, totals }: Table): { label: string; row: Row }[] => [
  ...classTotals.map(({ class: name, row }) => ({ label: `Total ${name}`, row })),
  ...(totals ? [{ label: 'Total', row: totals }] : []),
]

function sumOf({ key, adds }: Column, total: true | string): Fragment {
  const sum = `sum(r."${key}")${adds ? ` filter (where r."${adds}")` : ''}`
  const same = `case when min(r."${total}") is not distinct from max(r."${total}") then ${sum} end`
  return raw(`${total === true ? sum : same} as "${key}"`)
}

/** Rows fetched and written at a time: others of this process get their turn in between. */
const batch = 100

export const rowsOf = (snapshot: Snapshot, { select, order }: Table) =>
  snapshot.stream<Row>(sql`${select} order by ${order}`, batch)
