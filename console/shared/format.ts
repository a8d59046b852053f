/**
 * Decimals stay texts from the service to the screen: digits are grouped, never calculated with.
 */

const grouped = (whole: string) => whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')

function shown(value: string | null | undefined, least: number, sign = '−'): string {
  if (value === null || value === undefined || value === '') return ''
  const negative = value.startsWith('-')
  const [whole = '0', fraction = ''] = value.replace('-', '').split('.')
  const places = fraction.padEnd(least, '0')
  return `${negative ? sign : ''}${grouped(whole)}${places ? `.${places}` : ''}`
}

/** Money with at least the decimals of its currency; the heading names the currency. */
export const money = (value: string | null | undefined, places: number) => shown(value, places)
export const units = (value: string | null | undefined, places: number) => shown(value, places)
export const price = (value: string | null | undefined) => shown(value, 4)
export const percent = (value: string | null | undefined) =>
  value === null || value === undefined ? '' : `${shown(value, 2)} %`
export const plain = (value: string | null | undefined) => shown(value, 0)

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A date is a text, 2026-06-30, and not a moment, so that no time zone shifts it. */
export function day(value: string | null | undefined): string {
  const [year, month, date] = (value ?? '').slice(0, 10).split('-')
  const name = months[Number(month) - 1]
  return year && name && date ? `${Number(date)} ${name} ${year}` : ''
}

/** Whether a text is a date of the calendar, 2026-06-30, as the service takes it. */
const isDay = (text: string) => {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text
}

/** A date as people paste it, 30/06/2026 or 2026-06-30; undefined where it is none. */
export function dayOf(text: string): string | undefined {
  const [, date = '', month = '', year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? []
  const given = year ? `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}` : text
  return isDay(given) ? given : undefined
}

/** 2026-06-30 is "Jun 2026". */
export const monthOf = (value: string | null | undefined) => day(value).replace(/^\d+ /, '')

const moments = new Intl.DateTimeFormat('en-AU', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
})

/** A moment in the browser's time zone. */
export const moment = (value: string | null | undefined) =>
  value ? moments.format(new Date(value)) : ''

const aDay = 86_400_000

/** Today in a product’s time zone, as a text; without a time zone, in the browser's. */
export const today = (timeZone?: string | null): string =>
  // The Swedish locale writes dates as the service does: 2026-06-30.
  new Intl.DateTimeFormat('sv-SE', timeZone ? { timeZone } : {}).format(Date.now())

/** The moment a multiple of 24 hours ago, regardless of daylight saving. */
export const daysAgo = (days: number) => new Date(Date.now() - days * aDay).toISOString()

/**
 * The moment at which a date begins in the browser's time zone; an invalid date is returned
 * unchanged.
 */
export function beginOf(date: string, time = '00:00:00'): string {
  const begin = new Date(`${date}T${time}`)
  return Number.isNaN(begin.getTime()) ? date : begin.toISOString()
}

/** The last second of a date in the browser's time zone. */
export const endOf = (date: string) => beginOf(date, '23:59:59')

export const count = (value: number) => grouped(String(value))

/** A number with its noun: "1 payment", "2,000 payments". */
export const counted = (value: number, one: string) =>
  `${count(value)} ${one}${value === 1 ? '' : 's'}`

/** Control characters that change the text direction of everything after them in the line. */
const turning = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/
const ends = /[\u2066-\u2069]/g

/** Isolates a text so that its direction controls do not affect the texts beside it. */
export const isolated = (text: string) =>
  turning.test(text) ? `\u2068${text.replaceAll(ends, '')}\u2069` : text

/** Joins the texts that are not empty, isolated so that a name cannot reorder its neighbours. */
export const beside = (texts: readonly (string | null | undefined)[], between = ' · ') =>
  texts
    .filter((text): text is string => Boolean(text))
    .map(isolated)
    .join(between)

export const bytes = (size: number) => {
  if (size < 1024) return `${size} B`
  return size < 1024 * 1024 ? `${Math.ceil(size / 1024)} KB` : `${Math.ceil(size / 1048576)} MB`
}
