/** Letters that are no letter of A to Z with an accent, as those write them who have no others. */
const letters: Record<string, string> = {
  ...{ Æ: 'AE', æ: 'ae', Ǽ: 'AE', ǽ: 'ae', Œ: 'OE', œ: 'oe', ẞ: 'SS', ß: 'ss', Þ: 'TH', þ: 'th' },
  ...{ Ø: 'O', ø: 'o', Ł: 'L', ł: 'l', Đ: 'D', đ: 'd', Ð: 'D', ð: 'd', Ħ: 'H', ħ: 'h', ı: 'i' },
  ...{ Ŋ: 'N', ŋ: 'n', Ŧ: 'T', ŧ: 't', ĸ: 'k', Ə: 'E', ə: 'e' },
  // And signs of which every keyboard has a plainer one: O’Brien, Smith–Jones.
  ...{ '’': "'", '‘': "'", ʼ: "'", ʻ: "'", '`': "'", '´': "'", '–': '-', '—': '-', '−': '-' },
  ...{ '‐': '-', '‑': '-' },
}
const others = new RegExp(`[${Object.keys(letters).join('')}]`, 'gu')
const plainer = (text: string) => text.replaceAll(others, (sign) => letters[sign]!) // all are there

/** A text without accents; what is of no Latin script stays as it is. */
export const latin = (text: string) =>
  // Before, since ´ alone is a blank with an accent; after, for what was written with accents, too.
  plainer(plainer(text).normalize('NFKD').replaceAll(/\p{M}/gu, ''))
