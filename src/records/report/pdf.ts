import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import PDFDocument from 'pdfkit'
import { Refusal } from '../../platform/refusal.ts'
import {
  belowRunningTitle,
  drawAbout,
  drawChart,
  drawHead,
  drawRow,
  drawRunningTitle,
  drawTitle,
  drawTotals,
  footer,
  type Layout,
  measureHead,
  type Sheet,
} from './pdf-page.ts'
import type { Row, Table } from './table.ts'

/** Rows beyond this are no reading matter; they belong into a spreadsheet. */
const mostRows = 200_000

const fontFolder = join(
  dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')),
  'ttf',
)

const margin = 36
const a4 = [595.28, 841.89] as const

function layoutOf({ columns, landscape }: Table): Layout {
  const [width, height] = landscape ? [a4[1], a4[0]] : a4
  const share = (width - 2 * margin) / columns.reduce((sum, column) => sum + column.width, 0)
  let x: number = margin
  const places = columns.map((column) => {
    const place = { column, x, width: column.width * share }
    x += place.width
    return place
  })
  const fontSize = Math.min(8, Math.max(5.5, share * 1.25))
  return {
    width,
    height,
    left: margin,
    right: width - margin,
    columns: places,
    rowHeight: fontSize * 1.75,
    headHeight: 0, // see measureHead
    fontSize,
    bottom: height - margin - 16,
  }
}

/** Pages for people: what the report is, a table with its head on every page, and the totals. */
export async function writePdf(path: string, table: Table, rows: AsyncIterable<Row[]>) {
  if (table.count > mostRows)
    throw new Refusal(409, [
      {
        code: 'too_long',
        message: `The report has ${table.count} rows, too many for a PDF; order it as CSV or XLSX.`,
      },
    ])
  const doc = newDocument(table)
  const plan = layoutOf(table)
  const layout = { ...plan, headHeight: measureHead(doc, plan) }
  const file = createWriteStream(path)
  file.on('error', () => {}) // told by the pipeline; another may follow, and must not end us
  const written = pipeline(doc, file)
  try {
    await Promise.race([draw(doc, file, layout, table, rows), written])
    doc.end()
    await written
  } catch (error) {
    doc.destroy()
    throw error
  }
}

function newDocument({ title, about }: Table): Sheet {
  const doc = new PDFDocument({
    autoFirstPage: false,
    margin: 0,
    info: { Title: title, Subject: about.map((pair) => pair.join(': ')).join('; ') },
    lang: 'en-AU',
    displayTitle: true,
  })
  doc.registerFont('plain', join(fontFolder, 'DejaVuSansCondensed.ttf'))
  doc.registerFont('bold', join(fontFolder, 'DejaVuSansCondensed-Bold.ttf'))
  return doc
}

async function draw(
  doc: Sheet,
  file: WriteStream,
  layout: Layout,
  table: Table,
  rows: AsyncIterable<Row[]>,
) {
  const { width, height, rowHeight, bottom } = layout
  const lines = table.count + (table.totals ? 1 : 0)
  let page = 0
  let pages = 1
  let y = 0
  const fits = (from: number) => Math.floor((bottom - from) / rowHeight)
  const turn = async () => {
    if (doc.readableLength > 2 ** 20 && file.writableNeedDrain) await once(file, 'drain')
    doc.addPage({ size: [width, height], margin: 0 })
    page++
    y = page === 1 ? drawTitle(doc, layout, table) : drawRunningTitle(doc, layout, table)
    if (page === 1) {
      y = drawAbout(doc, layout, table, y)
      if (table.chart) y = drawChart(doc, layout, table.chart, y)
      const first = fits(y + layout.headHeight)
      const next = fits(belowRunningTitle + layout.headHeight)
      pages = 1 + Math.max(0, Math.ceil((lines - first) / next))
    }
    footer(doc, layout, table, page, pages)
    y = drawHead(doc, layout, y)
  }
  const line = async (write: (at: number) => void) => {
    if (fits(y) < 1) await turn()
    write(y)
    y += rowHeight
  }
  await turn()
  let number = 0
  for await (const batch of rows)
    for (const row of batch) await line((at) => drawRow(doc, layout, row, at, number++ % 2 === 1))
  const { totals } = table
  if (totals) await line((at) => drawTotals(doc, layout, totals, at))
  if (table.count === 0)
    doc
      .font('plain')
      .fontSize(9)
      .text('There is nothing to show.', margin, y + 8)
}
