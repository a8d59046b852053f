import { strFromU8, unzipSync } from 'fflate'

type Parts = { [name: string]: Uint8Array }

const xml = (bytes: Uint8Array | undefined) =>
  new DOMParser().parseFromString(bytes ? strFromU8(bytes) : '<none/>', 'application/xml')

/** Elements by their name, whatever prefix a program gives it. */
const all = (of: Document | Element, name: string) => [...of.getElementsByTagNameNS('*', name)]

/**
 * The rows of a workbook's first sheet as the texts that stand in it: a number is its digits, and
 * never one of JavaScript's. Days stay the numbers a sheet counts them by; the service, which knows
 * its styles, reads those.
 */
export function readWorkbook(bytes: Uint8Array): string[][] {
  const parts = unzipSync(bytes, { filter: ({ name }) => /\.(xml|rels)$/.test(name) })
  const shared = all(xml(parts['xl/sharedStrings.xml']), 'si').map(textIn)
  return all(xml(parts[firstSheet(parts)]), 'row').map((row) => {
    const cells: string[] = []
    for (const cell of all(row, 'c')) {
      const at = columnOf(cell.getAttribute('r')) ?? cells.length
      while (cells.length < at) cells.push('')
      cells[at] = cellText(cell, shared)
    }
    return cells
  })
}

/** The sheet whose tab is the first, whatever its part is called. */
function firstSheet(parts: Parts): string {
  const [sheet] = all(xml(parts['xl/workbook.xml']), 'sheet')
  const id = [...(sheet?.attributes ?? [])].find(({ name }) => name.endsWith(':id'))?.value
  const target = all(xml(parts['xl/_rels/workbook.xml.rels']), 'Relationship')
    .find((one) => one.getAttribute('Id') === id)
    ?.getAttribute('Target')
  return target?.startsWith('/') ? target.slice(1) : `xl/${target}`
}

/** BC12 is in the 55th column, counted from 0. */
function columnOf(reference: string | null): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (!letters) return undefined
  return [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

/** How a name is pronounced stands beside it, and is left out. */
const textIn = (of: Element) =>
  all(of, 't')
    .filter((one) => one.parentElement?.localName !== 'rPh')
    .map((one) => one.textContent ?? '')
    .join('')

function cellText(cell: Element, shared: readonly string[]): string {
  const type = cell.getAttribute('t')
  if (type === 'inlineStr') return textIn(cell)
  const value = all(cell, 'v')[0]?.textContent ?? ''
  return type === 's' ? (shared[Number(value)] ?? '') : value
}
