import { boxesIn, fitted, wordsOfBoxes, wrapped } from '../statement/glyphs.ts'
import type { Tags } from './pdf-tags.ts'
import type { Chart, Column, Row, Table } from './table.ts'

export type Sheet = PDFKit.PDFDocument

/** The positions on a page, in points. All rows have the same height. */
export type Layout = {
  width: number
  height: number
  left: number
  right: number
  columns: { column: Column; x: number; width: number }[]
  rowHeight: number
  headHeight: number
  fontSize: number
  /** The moment whose state the report shows. */
  moment: Date
  /** The bottom of the rows; below it is the footer. */
  bottom: number
}

const ink = '#1b2733'
const faint = '#6b7885'
const accent = '#1f4e79'
const rule = '#c3ccd5'
const band = '#f3f6f9'

/** Draws the large title on the first page and returns where the content below begins. */
export function drawTitle(doc: Sheet, { left, right }: Layout, { title }: Table): number {
  doc.font('bold').fontSize(18).fillColor(accent)
  put(doc, fitted(doc, title, right - left), left, 36)
  doc.moveTo(left, 62).lineTo(right, 62).lineWidth(1.2).strokeColor(accent).stroke()
  return 72
}

/** Where the table begins on the pages after the first. */
export const belowRunningTitle = 50

/** Draws a line that names the report on every page after the first. */
export function drawRunningTitle(doc: Sheet, { left, right }: Layout, { title, about }: Table) {
  const [, name = ''] = about[0] ?? []
  doc.font('plain').fontSize(8).fillColor(faint)
  put(doc, fitted(doc, `${title} – ${name}`, right - left), left, 34)
  return belowRunningTitle
}

/** Draws the head of the report as two columns of labels and values. */
export function drawAbout(doc: Sheet, layout: Layout, { about }: Table, top: number): number {
  const half = (layout.right - layout.left) / 2
  const perSide = Math.ceil(about.length / 2)
  const bottoms = [top, top]
  for (const [i, [label, value]] of about.entries()) {
    const side = i < perSide ? 0 : 1
    const x = layout.left + side * half
    doc.font('plain').fontSize(8.5).fillColor(faint)
    put(doc, label, x, bottoms[side]!)
    doc.font('bold').fillColor(ink)
    for (const line of wrapped(doc, value, half - 95, 3)) {
      put(doc, line, x + 85, bottoms[side]!)
      bottoms[side]! += 12
    }
    bottoms[side]! += 2
  }
  return Math.max(...bottoms) + 10
}

/** The height of the table's head, which has as many lines as the longest column title needs. */
export function measureHead(doc: Sheet, { columns, fontSize }: Layout): number {
  doc.font('bold').fontSize(fontSize)
  const lines = columns.map(
    ({ column, width }) => wrapped(doc, column.title, width - 2 * gap, 3).length,
  )
  return Math.max(...lines) * fontSize * 1.2 + 8
}

/** Draws the column titles, aligned like the cells below them: figures to the right. */
export function drawHead(doc: Sheet, tags: Tags, layout: Layout, top: number): number {
  const { left, right, headHeight, fontSize } = layout
  tags.aside(() => doc.rect(left, top, right - left, headHeight).fill('#e6ecf2'))
  doc.font('bold').fontSize(fontSize).fillColor(accent)
  const cells = layout.columns.map(({ column, x, width }) => () => {
    const lines = wrapped(doc, column.title, width - 2 * gap, 3)
    const first = top + headHeight - 4 - lines.length * fontSize * 1.2
    for (const [i, text] of lines.entries())
      putIn(doc, text, column, x, width, first + i * fontSize * 1.2)
  })
  tags.headRow(cells)
  return top + headHeight
}

/** The space between a cell's edge and its text, on either side. */
const gap = 4

/** Where a row is drawn; every second row has a coloured band. */
type Place = { y: number; isBanded: boolean }

export function drawRow(doc: Sheet, tags: Tags, layout: Layout, row: Row, place: Place) {
  const { left, right, rowHeight } = layout
  const { y, isBanded } = place
  if (isBanded) tags.aside(() => doc.rect(left, y, right - left, rowHeight).fill(band))
  doc.font('plain').fillColor(ink)
  tags.row(cellsOf(doc, layout, row, y))
}

export function drawTotals(
  doc: Sheet,
  tags: Tags,
  layout: Layout,
  { label: words, row }: { label: string; row: Row },
  y: number,
) {
  const { left, right, rowHeight, columns } = layout
  tags.aside(() => {
    doc.lineWidth(0.8).strokeColor(ink)
    for (const at of [y + 0.5, y + rowHeight]) doc.moveTo(left, at).lineTo(right, at).stroke()
  })
  doc.font('bold').fillColor(ink)
  const label = besideLabel(columns, row)
  const labelled = { ...layout, columns: [label, ...columns.slice(1)] }
  tags.row(cellsOf(doc, labelled, { ...row, [label.column.key]: words }, y))
}

/**
 * The first column as the label of a total line has it: of text, and as wide as it is with the
 * columns beside it that have no sum.
 */
function besideLabel([first, ...others]: Layout['columns'], row: Row): Layout['columns'][number] {
  const isEmpty = ({ column }: Layout['columns'][number]) => (row[column.key] ?? null) === null
  const taken = others.findIndex((one) => !isEmpty(one))
  const free = taken < 0 ? others : others.slice(0, taken)
  const width = free.reduce((sum, one) => sum + one.width, first!.width)
  return { ...first!, column: { ...first!.column, kind: 'text' }, width }
}

function cellsOf(doc: Sheet, layout: Layout, row: Row, y: number) {
  const { fontSize, rowHeight } = layout
  doc.fontSize(fontSize)
  const at = y + (rowHeight - fontSize * 1.17) / 2
  return layout.columns.map(({ column, x, width }) => () => {
    const value = row[column.key]
    if (value === null || value === undefined) return
    const text = fitted(doc, shownIn(column, String(value)), width - 2 * gap)
    putIn(doc, text, column, x, width, at)
  })
}

function putIn(doc: Sheet, text: string, { kind }: Column, x: number, width: number, y: number) {
  const at = kind === 'number' ? x + width - gap - doc.widthOfString(text) : x + gap
  put(doc, text, at, y)
}

/** The characters of each document that were printed as boxes. */
const boxes = new WeakMap<Sheet, Set<string>>()

function put(doc: Sheet, text: string, x: number, y: number) {
  doc.text(text, x, y, { lineBreak: false })
  for (const one of boxesIn(doc, text)) boxes.set(doc, (boxes.get(doc) ?? new Set()).add(one))
}

function shownIn({ kind }: Column, value: string): string {
  if (kind === 'number') return grouped(value)
  return kind === 'date' ? shortDate(value) : value.replaceAll(/\s+/g, ' ')
}

/** 1234567.8900 → 1,234,567.8900; only separators are added, the digits are not rounded. */
const grouped = (digits: string) => digits.replace(/\d(?=(\d{3})+(\.|$))(?<!\.\d*)/g, '$&,')

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
function shortDate(date: string): string {
  const [year, month, day] = date.split('-')
  return `${day} ${months[Number(month) - 1]} ${year}`
}

export function footer(doc: Sheet, layout: Layout, page: number, pages: number) {
  const { left, right, height, moment } = layout
  const y = height - 30
  doc.lineWidth(0.5).strokeColor(rule)
  doc
    .moveTo(left, y - 5)
    .lineTo(right, y - 5)
    .stroke()
  doc.font('plain').fontSize(7).fillColor(faint)
  const known = `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  put(doc, `As known ${known} · Registry Platform`, left, y)
  const number = `Page ${page} of ${pages}`
  put(doc, number, right - doc.widthOfString(number), y)
}

/**
 * Draws a note below the rows of the last page about characters that could not be printed, if any.
 */
export function drawBoxesNote(doc: Sheet, tags: Tags, { left, right, bottom }: Layout) {
  const found = boxes.get(doc)
  if (!found) return
  doc.font('plain').fontSize(7).fillColor(faint)
  const words = `${wordsOfBoxes(found)} The report as CSV, XLSX or JSON has it.`
  tags.paragraph(() => put(doc, fitted(doc, words, right - left), left, bottom + 4))
}

const chartHeight = 120

/** Draws the value over time. Only here may figures be doubles, since a chart is a picture. */
export function drawChart(doc: Sheet, layout: Layout, chart: Chart, top: number): number {
  const { left, right } = layout
  const [x0, x1] = [left + 70, right - 10]
  const [y0, y1] = [top + 20 + chartHeight, top + 20]
  const values = chart.points.map(({ value }) => Number(value))
  const days = chart.points.map(({ date }) => Date.parse(date))
  const ceiling = niceCeiling(Math.max(...values))
  const [first, last] = [days[0]!, days.at(-1)!]
  const x = (day: number) => x0 + ((day - first) / (last - first)) * (x1 - x0)
  const y = (value: number) => y0 - (Math.max(0, value) / ceiling) * (y0 - y1)
  doc.font('bold').fontSize(9).fillColor(ink)
  put(doc, chart.title, left, top)
  doc.font('plain').fontSize(7)
  for (let i = 0; i <= 4; i++) {
    const value = (ceiling * i) / 4
    const label = grouped(value.toFixed(ceiling < 4 ? 2 : 0))
    doc.moveTo(x0, y(value)).lineTo(x1, y(value)).lineWidth(0.4).strokeColor(rule).stroke()
    doc.fillColor(faint)
    put(doc, label, x0 - 6 - doc.widthOfString(label), y(value) - 4)
  }
  trace(
    doc,
    values.map((value, i) => [x(days[i]!), y(value)] as const),
    y0,
  )
  for (let i = 0; i <= 4; i++) {
    const label = shortDate(new Date(first + ((last - first) * i) / 4).toISOString().slice(0, 10))
    const width = doc.widthOfString(label)
    doc.fillColor(faint)
    put(doc, label, Math.min(right - width, x0 + ((x1 - x0) * i) / 4 - width / 2), y0 + 4)
  }
  return y0 + 24
}

/**
 * Draws the chart in steps: a value holds until the next point, so that nothing rises before the
 * day on which money was paid in.
 */
function trace(doc: Sheet, points: (readonly [number, number])[], base: number) {
  const steps = points.flatMap(([x, y], i) =>
    i === 0
      ? [[x, y]]
      : [
          [x, points[i - 1]![1]],
          [x, y],
        ],
  )
  const [startX] = points[0]!
  const [endX] = points.at(-1)!
  doc.moveTo(startX, base)
  for (const [x, y] of steps) doc.lineTo(x!, y!)
  doc.lineTo(endX, base).closePath().fillOpacity(0.12).fill(accent).fillOpacity(1)
  doc.moveTo(...points[0]!)
  for (const [x, y] of steps) doc.lineTo(x!, y!)
  doc.lineWidth(1.3).strokeColor(accent).lineJoin('round').stroke()
}

/**
 * The lowest 1, 2, 4, 6, 8 or 10 times a power of ten at or above the value, whose quarters read
 * well as labels.
 */
function niceCeiling(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= value)!
  return step * power
}
