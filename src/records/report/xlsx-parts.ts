import type { Column } from './table.ts'

/** The parts of a workbook that do not depend on the rows of its sheets. */

export const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const officeRelations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const sheetType = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const each = (count: number, write: (number: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i + 1)).join('')

export const contentTypes = (sheets: number) =>
  `${xmlHead}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${sheetType}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${sheetType}.styles+xml"/>
${each(
  sheets,
  (n) =>
    `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${sheetType}.worksheet+xml"/>`,
)}</Types>`

export const relations = `${xmlHead}<Relationships xmlns="${packageRelations}">
<Relationship Id="rId1" Type="${officeRelations}/officeDocument" Target="xl/workbook.xml"/>
</Relationships>`

export const workbookRelations = (sheets: number) =>
  `${xmlHead}<Relationships xmlns="${packageRelations}">
${each(
  sheets,
  (n) =>
    `<Relationship Id="rId${n}" Type="${officeRelations}/worksheet"` +
    ` Target="worksheets/sheet${n}.xml"/>`,
)}<Relationship Id="rId${sheets + 1}" Type="${officeRelations}/styles" Target="styles.xml"/>
</Relationships>`

/** The workbook part; Print_Titles repeats the head of the table on every printed page. */
export const workbook = (sheets: readonly string[], lastColumn: string) =>
  `${xmlHead}<workbook xmlns="${main}" xmlns:r="${officeRelations}"><sheets>${sheets
    .map((name, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`)
    .join('')}</sheets><definedNames>${sheets
    .slice(0, -1)
    .map(
      (name, i) =>
        `<definedName name="_xlnm.Print_Titles" localSheetId="${i}">` +
        `'${name}'!$A$1:$${lastColumn}$1</definedName>`,
    )
    .join('')}</definedNames></workbook>`

/** Cell styles in order: none, heads, one for each column, and one for each column's total. */
export function stylesOf(columns: readonly Column[]): string {
  const formats = columns.map(({ kind, decimals = 2 }) => {
    if (kind === 'date') return 'yyyy-mm-dd'
    if (kind === 'text') return ''
    return decimals > 0 ? `#,##0.${'0'.repeat(decimals)}` : '#,##0'
  })
  const numbers = formats.map((format, i) =>
    format ? `<numFmt numFmtId="${200 + i}" formatCode="${format}"/>` : '',
  )
  const style = (font: number, border: number) => (format: string, i: number) =>
    `<xf numFmtId="${format ? 200 + i : 0}" fontId="${font}" fillId="0" borderId="${border}"` +
    ' xfId="0" applyNumberFormat="1" applyFont="1" applyBorder="1"/>'
  const given = numbers.filter(Boolean)
  return `${xmlHead}<styleSheet xmlns="${main}">
<numFmts count="${given.length}">${given.join('')}</numFmts>
<fonts count="2"><font><sz val="10"/><name val="Calibri"/></font>
<font><b/><sz val="10"/><name val="Calibri"/></font></fonts>
<fills count="3"><fill><patternFill patternType="none"/></fill>
<fill><patternFill patternType="gray125"/></fill>
<fill><patternFill patternType="solid"><fgColor rgb="FFE8EDF3"/></patternFill></fill></fills>
<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border>
<border><left/><right/><top style="thin"/><bottom style="double"/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="${2 + 2 * columns.length}">
<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<xf numFmtId="0" fontId="1" fillId="2" borderId="0" xfId="0" applyFont="1" applyFill="1"/>
${formats.map(style(0, 0)).join('')}${formats.map(style(1, 1)).join('')}</cellXfs>
</styleSheet>`
}
