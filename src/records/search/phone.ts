/** The prefixes of an Australian phone number: national, and the international forms. */
const beginnings = ['0', '61', '610', '0061', '001161']
const atHome = new RegExp(`^(?:${[...beginnings].reverse().join('|')})(\\d{9})$`)

/**
 * The digit strings under which a phone number may be stored, whatever separates the digits; empty
 * for a text that is not a phone number. 0400 123 333, +61 400 123 333 and +61 (0)400 123 333 are
 * the same number.
 */
export function phonesOf(text: string): string[] {
  if (!/^[+(]?[\d\s().+/-]*$/.test(text)) return []
  const digits = text.replaceAll(/\D/g, '')
  if (digits.length < 6 || digits.length > 20) return []
  const own = atHome.exec(digits)?.[1]
  return own ? beginnings.map((beginning) => beginning + own) : [digits]
}
