/** What a spreadsheet would take for a formula is text to it again. */
export const harmless = (text: string) =>
  formula.test(text) && !plainNumber.test(text) ? `'${text}` : text
/** Also behind blanks of any kind, and with the full-width signs that spreadsheets take as well. */
const formula = /^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n\0]/
const plainNumber = /^[+-]?\d+(\.\d+)?$/
