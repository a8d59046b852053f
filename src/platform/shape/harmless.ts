/**
 * Prefixes a text that a spreadsheet would run as a formula with an apostrophe, so that it stays
 * text.
 */
export const harmless = (text: string) =>
  formula.test(text) && !plainNumber.test(text) ? `'${text}` : text
/**
 * Matches formulas also behind blanks of any kind, and with the full-width signs that spreadsheets
 * accept.
 */
const formula = /^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n\0]/
const plainNumber = /^[+-]?\d+(\.\d+)?$/
