/**
 * Latin letters that do not decompose into a letter of A to Z and an accent, with their usual
 * spelling.
 */
const letters: Record<string, string> = {
  ...{ Æ: 'AE', æ: 'ae', Ǽ: 'AE', ǽ: 'ae', Œ: 'OE', œ: 'oe', ẞ: 'SS', ß: 'ss', Þ: 'TH', þ: 'th' },
  ...{ Ø: 'O', ø: 'o', Ł: 'L', ł: 'l', Đ: 'D', đ: 'd', Ð: 'D', ð: 'd', Ħ: 'H', ħ: 'h', ı: 'i' },
  ...{ Ŋ: 'N', ŋ: 'n', Ŧ: 'T', ŧ: 't', ĸ: 'k', Ə: 'E', ə: 'e' },
  // And signs with a plainer form on every keyboard: O’Brien, Smith–Jones.
  ...{ '’': "'", '‘': "'", ʼ: "'", ʻ: "'", '`': "'", '´': "'", '–': '-', '—': '-', '−': '-' },
  ...{ '‐': '-', '‑': '-' },
}
const others = new RegExp(`[${Object.keys(letters).join('')}]`, 'gu')
const plainer = (text: string) => text.replaceAll(others, (sign) => letters[sign]!) // all are there

/** Removes accents from a text; characters of other scripts stay. */
export const latin = (text: string) =>
  // Letters are replaced before, because NFKD turns a lone ´ into a blank with an accent; and again
  // after, for letters that also carried an accent.
  plainer(plainer(text).normalize('NFKD').replaceAll(/\p{M}/gu, ''))
