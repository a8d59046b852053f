import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../../platform/refusal.ts'
import {
  belowRunningTitle,
  drawAbout,
  drawBoxesNote,
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
import { mostTagged, noTags, type Tags, tagsOf } from './pdf-tags.ts'
import { type Row, type Table, totalLines } from './table.ts'

/** The most rows of a PDF; longer reports belong in a spreadsheet. */
const mostRows = 200_000

const fontFolder = join(
  dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')),
  'ttf',
)

const margin = 36
const a4 = [595.28, 841.89] as const

function layoutOf({ columns, landscape }: Table, moment: Date): Layout {
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
    moment,
    bottom: height - margin - 16,
  }
}

/** Writes pages: the head of the report, a table with its head on every page, and the totals. */
export async function writePdf(
  path: string,
  table: Table,
  rows: AsyncIterable<Row[]>,
  moment: Date,
) {
  if (table.count > mostRows)
    throw new Refusal(409, [
      {
        code: 'too_long',
        message: `The report has ${table.count} rows, too many for a PDF; order it as CSV or XLSX.`,
      },
    ])
  const isTagged = table.count <= mostTagged
  const doc = await newDocument(table, isTagged, moment)
  const plan = layoutOf(table, moment)
  const layout = { ...plan, headHeight: measureHead(doc, plan) }
  const file = createWriteStream(path)
  // the pipeline reports the error; a second one without a listener would end the process
  file.on('error', () => {})
  const written = pipeline(doc, file)
  try {
    await Promise.race([
      draw({ doc, tags: () => (isTagged ? tagsOf(doc) : noTags), file }, layout, table, rows),
      written,
    ])
    doc.end()
    await written
  } catch (error) {
    doc.destroy()
    throw error
  }
}

async function newDocument({ title, about }: Table, tagged: boolean, moment: Date): Promise<Sheet> {
  // Imported for the first document, not when the service starts: pdfkit takes longer to load than
  // everything else together.
  const { default: PDFDocument } = await import('pdfkit')
  const doc = new PDFDocument({
    tagged,
    pdfVersion: '1.7',
    autoFirstPage: false,
    margin: 0,
    info: {
      CreationDate: moment,
      Title: titleOf(title, about),
      Subject: about.map((pair) => pair.join(': ')).join('; '),
    },
    lang: 'en-AU',
    displayTitle: true,
  })
  doc.registerFont('plain', join(fontFolder, 'DejaVuSansCondensed.ttf'))
  doc.registerFont('bold', join(fontFolder, 'DejaVuSansCondensed-Bold.ttf'))
  return doc
}

/** Holding statement – Growth Fund: the title that PDF viewers show in their window. */
const titleOf = (title: string, about: Table['about']) =>
  [title, about.find(([label]) => label === 'Product')?.[1]].filter(Boolean).join(' – ')

type Paper = { doc: Sheet; tags: () => Tags; file: WriteStream }

async function draw(
  { doc, tags: newTags, file }: Paper,
  layout: Layout,
  table: Table,
  rows: AsyncIterable<Row[]>,
) {
  const { width, height, rowHeight, bottom } = layout
  const tags = newTags()
  const sums = totalLines(table)
  const lines = table.count + sums.length
  let page = 0
  let pages = 1
  let y = 0
  const fits = (from: number) => Math.floor((bottom - from) / rowHeight)
  const turn = async () => {
    if (doc.readableLength > 2 ** 20 && file.writableNeedDrain) await once(file, 'drain')
    doc.addPage({ size: [width, height], margin: 0 })
    page++
    y = page === 1 ? drawFront(doc, tags, layout, table) : belowRunningTitle
    if (page > 1) tags.aside(() => drawRunningTitle(doc, layout, table))
    else {
      const first = fits(y + layout.headHeight)
      const next = fits(belowRunningTitle + layout.headHeight)
      pages = 1 + Math.max(0, Math.ceil((lines - first) / next))
    }
    tags.aside(() => footer(doc, layout, page, pages))
    y = drawHead(doc, tags, layout, y)
  }
  const line = async (write: (at: number) => void) => {
    if (fits(y) < 1) await turn()
    write(y)
    y += rowHeight
  }
  await turn()
  let number = 0
  for await (const batch of rows)
    for (const row of batch)
      await line((at) => drawRow(doc, tags, layout, row, { y: at, isBanded: number++ % 2 === 1 }))
  for (const sum of sums) await line((at) => drawTotals(doc, tags, layout, sum, at))
  if (table.count === 0)
    tags.paragraph(() => {
      doc
        .font('plain')
        .fontSize(9)
        .text('There is nothing to show.', margin, y + 8)
    })
  drawBoxesNote(doc, tags, layout)
  tags.end()
}

/** Draws the first page down to the table, and returns where the table begins. */
function drawFront(doc: Sheet, tags: Tags, layout: Layout, table: Table): number {
  const { chart } = table
  let y = 0
  tags.heading(() => {
    y = drawTitle(doc, layout, table)
  })
  tags.paragraph(() => {
    y = drawAbout(doc, layout, table, y)
  })
  if (chart)
    tags.figure(`${chart.title}: ${chart.points.at(-1)!.value} at the end.`, () => {
      y = drawChart(doc, layout, chart, y)
    })
  return y
}
