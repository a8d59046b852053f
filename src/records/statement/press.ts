import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { boxesIn, fitted, oneLine, wordsOfBoxes, wrapped } from './glyphs.ts'
import type { Issuer, Letter, Section } from './letter.ts'

/** What all pages share: the letterhead, and the moment whose state the letters show. */
export type Paper = { issuer: Issuer; logo?: Buffer | undefined; moment: Date }

type Sheet = PDFKit.PDFDocument

const [width, height] = [595.28, 841.89]
const [left, right, bottom] = [57, width - 57, height - 64]
const ink = '#1b2733'
const faint = '#5c6875'
const rule = '#c3ccd5'
const usualAccent = '#1f4e79'

const fontFolder = join(
  dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')),
  'ttf',
)
/**
 * The characters of the standard PDF fonts, which every viewer has. Texts with other characters use
 * the DejaVu fonts, embedded in the file.
 */
const western = /^[\x20-\x7e\xa0-\xff\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026]*$/

type Fonts = { plain: string; bold: string }
const usualFonts: Fonts = { plain: 'Helvetica', bold: 'Helvetica-Bold' }
const ownFonts: Fonts = {
  plain: join(fontFolder, 'DejaVuSansCondensed.ttf'),
  bold: join(fontFolder, 'DejaVuSansCondensed-Bold.ttf'),
}

const textsOf = ({ addressee, references, sections, notes }: Letter) =>
  [
    ...addressee,
    ...references.flat(),
    ...notes,
    ...sections.flatMap(({ heading, rows }) => [heading, ...rows.flat()]),
  ].join('')

/** Letters to one investor as one PDF; each begins on a page of its own. */
export async function printLetters(paper: Paper, letters: readonly Letter[]): Promise<Buffer> {
  const { issuer } = paper
  const texts = letters.map(textsOf).join('') + Object.values(issuer).join('')
  const fonts = western.test(texts) ? usualFonts : ownFonts
  // Imported for the first letter, not when the service starts: see report/pdf.ts.
  const { default: PDFDocument } = await import('pdfkit')
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    pdfVersion: '1.7',
    lang: 'en-AU',
    displayTitle: true,
    info: {
      Title: `${letters[0]?.title ?? 'Statement'} – ${issuer.name}`,
      Author: issuer.name,
      CreationDate: paper.moment,
    },
  })
  const pieces: Buffer[] = []
  doc.on('data', (piece: Buffer) => pieces.push(piece))
  const ended = new Promise<Buffer>((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(pieces)))
    doc.on('error', reject)
  })
  for (const letter of letters) drawLetter({ doc, fonts, paper }, letter)
  doc.end()
  return ended
}

type Desk = { doc: Sheet; fonts: Fonts; paper: Paper }

function drawLetter(desk: Desk, letter: Letter) {
  const { doc, paper } = desk
  const first = doc.bufferedPageRange().count
  let y = frontOf(desk, letter)
  const turn = () => {
    doc.addPage()
    const [name = ''] = letter.addressee
    set(desk, 'plain', 8, faint)
    const running = fitted(doc, `${letter.title} – ${name}`, right - left)
    write(desk, 'plain', 8, faint, running, left, 40)
    return 62
  }
  for (const section of letter.sections) y = drawSection(desk, section, y, turn)
  set(desk, 'plain', 8, faint)
  const boxes = boxesIn(doc, textsOf(letter) + Object.values(paper.issuer).join(''))
  const unprinted = boxes.length > 0 ? wordsOfBoxes(boxes) : ''
  for (const note of [...letter.notes, paper.issuer.statementNote ?? '', unprinted]) {
    if (!note) continue
    set(desk, 'plain', 8, faint)
    const tall = doc.heightOfString(note, { width: right - left })
    if (y + tall > bottom) y = turn()
    doc.text(note, left, y, { width: right - left })
    y += tall + 8
  }
  const last = doc.bufferedPageRange().count
  for (let page = first; page < last; page++) {
    doc.switchToPage(page)
    footer(desk, page - first + 1, last - first)
  }
}

/** Draws the first page down to the top of the tables, and returns that position. */
function frontOf(desk: Desk, { title, addressee, references }: Letter): number {
  const { doc, paper } = desk
  const { issuer, logo } = paper
  const accent = issuer.accentColour ?? usualAccent
  doc.addPage()
  if (logo) doc.image(logo, left, 36, { fit: [150, 52] })
  else write(desk, 'bold', 15, accent, issuer.name, left, 44)
  const contact = [
    ...(logo ? [issuer.name] : []),
    issuer.abn ? `ABN ${issuer.abn}` : '',
    ...(issuer.address ?? '').split(/\r?\n/),
    issuer.phone ?? '',
    issuer.email ?? '',
    issuer.website ?? '',
  ].filter(Boolean)
  for (const [i, line] of contact.entries()) writeRight(desk, 8, faint, line, right, 44 + i * 11)
  // The window of a DL envelope shows 45 to 75 mm from the top of the page.
  for (const [i, line] of addressee.slice(0, 6).entries()) {
    const text = oneLine(line, i === 0 ? ' ' : ', ')
    set(desk, 'plain', 10, ink)
    const size = Math.max(7, Math.min(10, (10 * addressRoom) / doc.widthOfString(text)))
    const shown = fitted(doc.fontSize(size), text, addressRoom + 1)
    write(desk, 'plain', size, ink, shown, left, 132 + i * 13)
  }
  for (const [i, [label, value]] of references.entries()) {
    write(desk, 'plain', 8.5, faint, label, labelsAt, 132 + i * 13)
    writeRight(desk, 8.5, ink, value, right, 132 + i * 13)
  }
  const top = Math.max(228, 140 + references.length * 13)
  write(desk, 'bold', 15, accent, title, left, top)
  doc
    .moveTo(left, top + 22)
    .lineTo(right, top + 22)
    .lineWidth(1)
    .strokeColor(accent)
    .stroke()
  return top + 34
}

/**
 * Where the references to the right of the address begin; a long address line would run into them.
 */
const labelsAt = 340
const addressRoom = labelsAt - left - 10

const rowHeight = 14
const cellSize = 8.5
/**
 * Words are cut rather than printed smaller than this. A figure is never cut, since it would read
 * as a smaller amount.
 */
const leastSize = 6.5

/** The font size at which a text fits into its cell. */
function shrunk(doc: Sheet, text: string, room: number, least: number): number {
  const wide = doc.widthOfString(text)
  return wide <= room
    ? cellSize
    : Math.max(least, (Math.floor(1000 * room) / wide / 1000) * cellSize)
}
/** The distance between two lines of a column heading. */
const headLine = 10

/** Draws a table on as many pages as it needs, with its head on each of them. */
function drawSection(desk: Desk, section: Section, top: number, turn: () => number): number {
  const { doc, paper } = desk
  const { heading, columns, rows, sums = 0 } = section
  const accent = paper.issuer.accentColour ?? usualAccent
  const share = (right - left) / columns.reduce((sum, column) => sum + column.width, 0)
  let y = top + 48 > bottom ? turn() : top
  write(desk, 'bold', 10, accent, heading, left, y)
  y += 15
  const cells = (kind: 'plain' | 'bold', colour: string, texts: readonly (string | null)[]) => {
    let x = left
    for (const [i, column] of columns.entries()) {
      const wide = column.width * share
      const text = oneLine(texts[i] ?? '')
      if (text) {
        set(desk, kind, cellSize, colour)
        const size = shrunk(doc, text, wide - 6, column.isNumber ? 0 : leastSize)
        const shown = fitted(doc.fontSize(size), text, wide - 6)
        const at = column.isNumber ? x + wide - 3 - doc.widthOfString(shown) : x + 3
        doc.text(shown, at, y + 3 + (cellSize - size) * 0.8, { lineBreak: false })
      }
      x += wide
    }
  }
  set(desk, 'bold', cellSize, accent)
  const titles = columns.map(({ title, width: part }) => wrapped(doc, title, part * share - 6, 3))
  const lines = Math.max(...titles.map(({ length }) => length))
  // Headings with fewer lines are aligned at the bottom, next to the cells below them.
  const lineOf = (n: number) => titles.map((own) => own[n - lines + own.length] ?? null)
  const head = () => {
    if (!columns.some(({ title }) => title)) return
    doc.rect(left, y, right - left, rowHeight + (lines - 1) * headLine).fill('#eef2f6')
    for (let n = 0; n < lines; n++, y += headLine) cells('bold', accent, lineOf(n))
    y += rowHeight - headLine
  }
  head()
  for (const [i, row] of rows.entries()) {
    if (y + rowHeight > bottom) {
      y = turn()
      head()
    }
    const isSum = i >= rows.length - sums
    doc
      .moveTo(left, y)
      .lineTo(right, y)
      .lineWidth(isSum ? 0.9 : 0.3)
    doc.strokeColor(isSum ? ink : rule).stroke()
    cells(isSum ? 'bold' : 'plain', ink, row)
    y += rowHeight
  }
  return y + 14
}

function footer(desk: Desk, page: number, pages: number) {
  const { doc, paper } = desk
  const y = height - 46
  doc.moveTo(left, y).lineTo(right, y).lineWidth(0.4).strokeColor(rule).stroke()
  const { name, abn } = paper.issuer
  write(desk, 'plain', 7.5, faint, abn ? `${name} · ABN ${abn}` : name, left, y + 6)
  writeRight(desk, 7.5, faint, `Page ${page} of ${pages}`, right, y + 6)
}

const set = ({ doc, fonts }: Desk, kind: keyof Fonts, size: number, colour: string) =>
  doc.font(fonts[kind]).fontSize(size).fillColor(colour)

function write(
  desk: Desk,
  kind: keyof Fonts,
  size: number,
  colour: string,
  text: string,
  ...[x, y]: [number, number]
) {
  set(desk, kind, size, colour)
  desk.doc.text(oneLine(text), x, y, { lineBreak: false })
}

function writeRight(
  desk: Desk,
  size: number,
  colour: string,
  given: string,
  ...[x, y]: [number, number]
) {
  const text = oneLine(given)
  set(desk, 'plain', size, colour)
  desk.doc.text(text, x - desk.doc.widthOfString(text), y, { lineBreak: false })
}
