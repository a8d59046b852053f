import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import readXlsx from 'read-excel-file/node'

/** The text of each page of a PDF, read by an independent library. */
export async function pagesOf(file: Buffer): Promise<string[]> {
  const document = await getDocument({ data: new Uint8Array(file), verbosity: 0 }).promise
  const pages: string[] = []
  for (let number = 1; number <= document.numPages; number++) {
    const { items } = await (await document.getPage(number)).getTextContent()
    const words = items.map((item) => ('str' in item ? item.str : ''))
    pages.push(words.join(' ').replaceAll(/ +/g, ' '))
  }
  await document.destroy()
  return pages
}

/** The texts of the first page with their positions, measured from the lower left corner. */
export async function placesOf(file: Buffer) {
  const document = await getDocument({ data: new Uint8Array(file), verbosity: 0 }).promise
  const { items } = await (await document.getPage(1)).getTextContent()
  await document.destroy()
  return items.flatMap((item) =>
    'str' in item && item.str.trim()
      ? [{ text: item.str, x: item.transform[4], y: item.transform[5], width: item.width }]
      : [],
  )
}

/** A cell with a number, as the digits in the file. */
export type Digits = { digits: string }

/** The sheets of a workbook, read by an independent library. */
export async function sheetsOf(file: Buffer) {
  const sheets = await readXlsx(file, { parseNumber: (digits): Digits => ({ digits }) })
  return sheets.map(({ sheet, data }) => ({ name: sheet, rows: data }))
}

type Branch = { role?: string; children?: Branch[] }

/** The title and language of a PDF, and the roles of the parts of its first page in their order. */
export async function structureOf(file: Buffer) {
  const document = await getDocument({ data: new Uint8Array(file), verbosity: 0 }).promise
  // The library's types say only that this is an object.
  const info = (await document.getMetadata()).info as { Title?: string; Language?: string }
  const page = await document.getPage(1)
  const tree = rolesOf((await page.getStructTree()) as Branch)
  await document.destroy()
  return { title: info.Title, language: info.Language, tree }
}

const rolesOf = ({ role, children = [] }: Branch): string[] => [
  ...(role ? [role] : []),
  ...children.flatMap(rolesOf),
]
