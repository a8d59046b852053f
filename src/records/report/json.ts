import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Column, Row, Table } from './table.ts'

/**
 * Writes one JSON object: the head of the report, its columns, its rows by column key, and the
 * totals.
 */
export async function writeJson(path: string, table: Table, rows: AsyncIterable<Row[]>) {
  await pipeline(Readable.from(pieces(table, rows)), createWriteStream(path))
}

async function* pieces(table: Table, rows: AsyncIterable<Row[]>) {
  const { title, about, columns, classTotals, currencyTotals, totals, count, chart } = table
  const listed = columns.map(({ key, title: name, kind }) => ({ key, title: name, kind }))
  const head = JSON.stringify({ title, about: Object.fromEntries(about), columns: listed })
  yield `${head.slice(0, -1)},"rows":[`
  let first = true
  for await (const batch of rows) {
    yield `${first ? '' : ','}\n${batch.map((row) => objectOf(columns, row)).join(',\n')}`
    first = false
  }
  yield `],"totals":${totals ? objectOf(columns, totals) : 'null'},"rowCount":${count}`
  for (const [name, sums] of Object.entries({ classTotals, currencyTotals }))
    if (sums.length > 0)
      yield `,"${name}":[${sums.map(({ row }) => objectOf(columns, row)).join(',')}]`
  if (chart) yield `,"chart":[${chart.points.map(pointOf).join(',')}]`
  yield '}'
}

/**
 * Writes figures digit by digit as PostgreSQL gave them, since a JavaScript number would round
 * some.
 */
const objectOf = (columns: readonly Column[], row: Row) =>
  `{${columns.map(({ key, kind }) => `"${key}":${written(kind, row[key])}`).join(',')}}`

function written(kind: Column['kind'], value: string | null | undefined): string {
  if (value === null || value === undefined) return 'null'
  return kind === 'number' ? String(value) : JSON.stringify(value)
}

const pointOf = ({ date, value }: { date: string; value: string }) =>
  `{"date":"${date}","value":${value}}`
