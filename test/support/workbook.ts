import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

type Style = 'percent' | 'wide' | 'account' | 'branch'
type Cell =
  | { text: string }
  | { inline: string; spoken: string }
  | { number: string; style?: Style }
  | { day: number }
  | { formula: string; fault?: string }
  | null

// The first sheet is hidden, so the first visible tab is the second sheet file.
const bookOf = ({ date1904 = false }) => `<x:workbook xmlns:x="m" xmlns:r="r">
  <x:workbookPr date1904="${date1904 ? 1 : 0}"/><x:sheets>
  <x:sheet name="Two" sheetId="1" state="hidden" r:id="rId1"/>
  <x:sheet name="One" sheetId="2" r:id="rId9"/></x:sheets></x:workbook>`

const parts = {
  '[Content_Types].xml': '<Types/>',
  'xl/_rels/workbook.xml.rels': `<Relationships>
    <Relationship Id="rId1" Target="worksheets/sheet1.xml"/>
    <Relationship Id="rId9" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
  'xl/worksheets/sheet1.xml': '<worksheet><sheetData/></worksheet>',
  'xl/styles.xml': `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/>
    <numFmt numFmtId="165" formatCode="#,##0.0#_%_);[Red]0&quot;%&quot;"/>
    <numFmt numFmtId="166" formatCode="000000000;@"/>
    <numFmt numFmtId="167" formatCode="000\\-000"/></numFmts>
    <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
    <cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/>
      <xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/></cellXfs></styleSheet>`,
}

const styles = { percent: 2, wide: 3, account: 4, branch: 5 }

/** A workbook as Excel writes it: texts in a shared table, days as numbers with a date style. */
export function workbook(
  rows: readonly (readonly Cell[])[],
  settings: { date1904?: boolean } = {},
): Promise<Buffer> {
  const texts: string[] = []
  const cellOf = (cell: Cell, place: string) => {
    if (cell === null) return ''
    if ('number' in cell) {
      const style = cell.style ? ` s="${styles[cell.style]}"` : ''
      return `<c r="${place}"${style}><v>${cell.number}</v></c>`
    }
    if ('day' in cell) return `<c r="${place}" s="1"><v>${cell.day}</v></c>`
    if ('formula' in cell) {
      const { formula, fault } = cell
      const found = fault ? `<v>${fault}</v>` : ''
      return `<c r="${place}"${fault ? ' t="e"' : ''}><f>${formula}</f>${found}</c>`
    }
    if ('inline' in cell) {
      const spoken = `<rPh sb="0" eb="1"><t>${cell.spoken}</t></rPh>`
      return `<c r="${place}" t="inlineStr"><is><t>${cell.inline}</t>${spoken}</is></c>`
    }
    return `<c r="${place}" t="s"><v>${texts.push(cell.text) - 1}</v></c>`
  }
  const sheet = rows.map((cells, row) => {
    const inRow = cells.map((cell, i) => cellOf(cell, `${String.fromCharCode(65 + i)}${row + 1}`))
    return `<row r="${row + 1}">${inRow.join('')}</row>`
  })
  const shared = texts.map(
    (text) => `<si><r><t>${text.slice(0, 1)}</t></r><r><t>${text.slice(1)}</t></r></si>`,
  )
  const zip = new ZipFile()
  const all = {
    ...parts,
    'xl/workbook.xml': bookOf(settings),
    'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${sheet.join('')}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst>${shared.join('')}</sst>`,
  }
  for (const [name, text] of Object.entries(all)) zip.addBuffer(Buffer.from(text), name)
  zip.end()
  return buffer(zip.outputStream)
}
