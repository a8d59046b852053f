/** How an Australian number may begin: as it is called at home, or from elsewhere. */
const beginnings = ['0', '61', '610', '0061', '001161']
const atHome = new RegExp(`^(?:${[...beginnings].reverse().join('|')})(\\d{9})$`)

/**
 * The digits that a phone number may be stored with, whatever stands between them; of a text that
 * is none, nothing. 0400 123 333, +61 400 123 333 and +61 (0)400 123 333 are the same.
 */
export function phonesOf(text: string): string[] {
  if (!/^[+(]?[\d\s().+/-]*$/.test(text)) return []
  const digits = text.replaceAll(/\D/g, '')
  if (digits.length < 6 || digits.length > 20) return []
  const own = atHome.exec(digits)?.[1]
  return own ? beginnings.map((beginning) => beginning + own) : [digits]
}
