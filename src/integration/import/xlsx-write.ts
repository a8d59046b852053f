import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { escaped } from '../../records/report/xlsx.ts'
import {
  contentTypes,
  relations,
  stylesOf,
  workbookRelations,
  xmlHead,
} from '../../records/report/xlsx-parts.ts'

type Rows = AsyncIterable<readonly string[]> | Iterable<readonly string[]>

/** Writes a workbook of text cells only: numbers and days are written as they were read. */
export async function writeSheet(path: string, rows: Rows) {
  await pipeline(workbookOf([{ name: 'Import', rows }]), createWriteStream(path))
}

export function workbookOf(sheets: readonly { name: string; rows: Rows }[]): Readable {
  const zip = new ZipFile()
  const add = (name: string, text: string) => zip.addBuffer(Buffer.from(text), name)
  add('[Content_Types].xml', contentTypes(sheets.length))
  add('_rels/.rels', relations)
  add('xl/workbook.xml', workbook(sheets.map(({ name }) => name)))
  add('xl/_rels/workbook.xml.rels', workbookRelations(sheets.length))
  add('xl/styles.xml', stylesOf([]))
  const output = zip.outputStream as Readable
  for (const [i, { rows }] of sheets.entries())
    zip.addReadStreamLazy(`xl/worksheets/sheet${i + 1}.xml`, (take) => {
      const sheet = Readable.from(sheetOf(rows))
      sheet.on('error', (error) => output.destroy(error))
      take(null, sheet)
    })
  zip.end()
  return output
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const links = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const workbook = (names: readonly string[]) =>
  `${xmlHead}<workbook xmlns="${main}" xmlns:r="${links}"><sheets>${names
    .map((name, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
    .join('')}</sheets></workbook>`

async function* sheetOf(rows: Rows) {
  yield `${xmlHead}<worksheet xmlns="${main}"><sheetData>`
  for await (const cells of rows) yield `<row>${cells.map(cellOf).join('')}</row>`
  yield '</sheetData></worksheet>'
}

const cellOf = (text: string) =>
  text === ''
    ? '<c/>'
    : `<c t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
