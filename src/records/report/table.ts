import sql, { join, raw } from 'sql-template-tag'
import type { Fragment, Snapshot } from '../../platform/sql/handle.ts'

/** A column of a report; the table has the same rows in every format. */
export type Column = {
  key: string
  title: string
  kind: 'text' | 'number' | 'date'
  /** Relative width on a page. */
  width: number
  /** Decimals shown in spreadsheets; the digits themselves come from PostgreSQL. */
  decimals?: number
  /** Whether the column is summed; by class or currency, only where all rows are of the same. */
  total?: true | 'class' | 'currency'
  /** The column that is true for the rows that the sum adds up; left out, all rows are added. */
  adds?: string
}

export type Row = Record<string, string | null>

export type Chart = { title: string; points: { date: string; value: string }[] }

/** The sums of the rows of one class or currency, named by `of`. */
export type Sums = { of: string; row: Row }

export type Table = {
  title: string
  /** Label and value, for the head of the report. */
  about: readonly (readonly [string, string])[]
  columns: readonly Column[]
  select: Fragment
  order: Fragment
  count: number
  /** The sums of each class, where there are several. */
  classTotals: Sums[]
  /** The sums of each currency, where there are several and some have more than one class. */
  currencyTotals: Sums[]
  /** The sums of everything that may be added up. */
  totals: Row | undefined
  /** Whether the pages are landscape, for a wide table. */
  landscape: boolean
  chart?: Chart
}

type Reckoned = 'count' | 'classTotals' | 'currencyTotals' | 'totals' | 'landscape'

export type Sketch = Omit<Table, Reckoned> & {
  /** Whether rows have a class, with its investment_id, and units are summed for each class. */
  byClass?: true
  /** Totals by class for columns that must not be summed, such as a sum of rounded percentages. */
  totals?: Fragment
}

/** Counts and sums the rows of a report in the snapshot from which they will be read. */
export async function tableOf(snapshot: Snapshot, sketch: Sketch): Promise<Table> {
  const { columns, select, byClass, totals: own, ...rest } = sketch
  const isMoney = columns.some(({ total }) => total === 'currency')
  const sums = [
    ...columns.flatMap((column) => (column.total ? [sumOf(column, column.total)] : [])),
    ...(isMoney ? [raw(`${same('currency', 'min(r.currency)')} as currency`)] : []),
  ]
  const [row] = await snapshot.query<Row & { rows: number }>(sql`
    select ${join([sql`count(*)::int as rows`, ...sums])} from (${select}) r`)
  const { rows: count, ...summed } = row!
  const isMixed = isMoney && count > 0 && summed.currency === null
  const currencies = isMixed ? await sumsBy('currency', snapshot, select, sums) : []
  const classes = byClass ? await classesOf(snapshot, select, sums, own) : []
  const totals = classes.length === 1 ? classes[0]!.row : filled(summed)
  const landscape = columns.reduce((width, column) => width + column.width, 0) > 60
  const classTotals = classes.length > 1 ? classes : []
  const currencyTotals = currencies.length === classes.length ? [] : currencies
  return { ...rest, columns, select, count, classTotals, currencyTotals, totals, landscape }
}

/** No totals where the currency is the only value that was computed. */
const filled = (row: Row) =>
  Object.entries(row).some(([key, value]) => key !== 'currency' && value !== null) ? row : undefined

async function classesOf(
  snapshot: Snapshot,
  select: Fragment,
  sums: Fragment[],
  own: Fragment | undefined,
) {
  const added = await sumsBy('class', snapshot, select, sums)
  const replaced = own ? await snapshot.query<Row>(own) : []
  return added.map(({ of, row }) => ({
    of,
    row: { ...row, ...replaced.find((one) => one.investment_id === row.investment_id) },
  }))
}

/** Two classes may have the same name. */
const groups = { class: raw('r.class, r.investment_id'), currency: raw('r.currency') }

async function sumsBy(
  key: 'class' | 'currency',
  snapshot: Snapshot,
  select: Fragment,
  sums: Fragment[],
): Promise<Sums[]> {
  const by = groups[key]
  const rows = await snapshot.query<Row>(sql`
    select ${join([by, ...sums])} from (${select}) r group by ${by} order by ${by}`)
  return rows.map((row) => ({ of: row[key] ?? '', row }))
}

/**
 * The total lines under a table: one for each class and currency, and one for everything that can
 * be added up.
 */
export const totalLines = ({ classTotals, currencyTotals, totals }: Table): Line[] => [
  ...[...classTotals, ...currencyTotals].map(({ of, row }) => ({ label: `Total ${of}`, row })),
  ...(totals ? [{ label: 'Total', row: totals }] : []),
]

type Line = { label: string; row: Row }

function sumOf({ key, adds }: Column, total: true | 'class' | 'currency'): Fragment {
  const sum = `sum(r."${key}")${adds ? ` filter (where r."${adds}")` : ''}`
  const of = total === 'class' ? 'investment_id' : 'currency'
  return raw(`${total === true ? sum : same(of, sum)} as "${key}"`)
}

/**
 * An SQL expression for a value that is null unless all rows have the same value in column `key`.
 */
const same = (key: string, value: string) =>
  `case when min(r."${key}") is not distinct from max(r."${key}") then ${value} end`

/** Rows fetched and written at a time; between batches the event loop serves other requests. */
const batch = 100

export const rowsOf = (snapshot: Snapshot, { select, order }: Table) =>
  snapshot.stream<Row>(sql`${select} order by ${order}`, batch)
