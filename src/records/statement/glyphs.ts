type Sheet = PDFKit.PDFDocument

/** Characters that every font used here can print, so that most texts need no closer look. */
const usual = /^[\x20-\x7e\xa0-\u017f\u2013-\u2026]*$/

/** pdfkit's font object can tell which characters it has, but pdfkit's types do not declare it. */
type Fonted = { _font: { font: { hasGlyphForCodePoint?: (point: number) => boolean } } }

/** The characters of a text that the current font has no glyph for and prints as a box. */
export function boxesIn(doc: Sheet, text: string): string[] {
  if (usual.test(text)) return []
  const { font } = (doc as unknown as Fonted)._font
  const has = (point: number) => font.hasGlyphForCodePoint?.(point) ?? true
  return [...new Set(text)].filter((one) => one.trim() !== '' && !has(one.codePointAt(0)!))
}

const mostNamed = 8

/**
 * A note that names the characters printed as boxes, so that a misprinted name does not go
 * unnoticed.
 */
export function wordsOfBoxes(boxes: Iterable<string>): string {
  const points = [...boxes].map(
    (one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
  )
  const more = points.length > mostNamed ? ', …' : ''
  const named = points.slice(0, mostNamed).join(', ')
  return `A box stands for a character that cannot be printed here (${named}${more}).`
}

/** Joins the lines of a text: a line break inside a name would push it over the text below. */
export const oneLine = (text: string, between = ' ') =>
  text.trim().replaceAll(/[^\S\n\r\u2028\u2029]*[\t\n\v\f\r\x85\u2028\u2029]\s*/g, between)

/** Cuts a text to one line of the given width, with an ellipsis where something is left out. */
export function fitted(doc: Sheet, given: string, width: number): string {
  const text = oneLine(given)
  if (doc.widthOfString(text) <= width) return text
  const letters = [...text.slice(0, 500)]
  let [fits, over] = [0, letters.length]
  while (over - fits > 1) {
    const middle = (fits + over) >> 1
    if (doc.widthOfString(`${letters.slice(0, middle).join('')}…`) <= width) fits = middle
    else over = middle
  }
  return `${letters.slice(0, fits).join('').trimEnd()}…`
}

/** Wraps a text between its words into at most `most` lines. */
export function wrapped(doc: Sheet, text: string, width: number, most: number): string[] {
  const lines: string[] = []
  for (const word of oneLine(text).split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word
    if (lines.length > 0 && (doc.widthOfString(longer) <= width || lines.length === most))
      lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.map((line) => fitted(doc, line, width))
}
