/** Decimals are texts from the service to the screen: digits are grouped, never calculated with. */

const grouped = (whole: string) => whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')

function shown(value: string | null | undefined, least: number, sign = '−'): string {
  if (value === null || value === undefined || value === '') return ''
  const negative = value.startsWith('-')
  const [whole = '0', fraction = ''] = value.replace('-', '').split('.')
  const places = fraction.padEnd(least, '0')
  return `${negative ? sign : ''}${grouped(whole)}${places ? `.${places}` : ''}`
}

/** Money with at least two places; the currency stands once, in the heading. */
export const money = (value: string | null | undefined) => shown(value, 2)
export const units = (value: string | null | undefined, places = 4) => shown(value, places)
export const price = (value: string | null | undefined) => shown(value, 4)
export const percent = (value: string | null | undefined) =>
  value === null || value === undefined ? '' : `${shown(value, 2)} %`
export const plain = (value: string | null | undefined) => shown(value, 0)

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A day is a text, 2026-06-30, and no moment: no time zone moves it. */
export function day(value: string | null | undefined): string {
  const [year, month, date] = (value ?? '').slice(0, 10).split('-')
  if (!year || !month || !date) return ''
  return `${Number(date)} ${months[Number(month) - 1]} ${year}`
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

/** A moment by the clock of whoever looks. */
export const moment = (value: string | null | undefined) =>
  value ? moments.format(new Date(value)) : ''

/** Today where the browser is, as a text. */
export function today(shiftDays = 0): string {
  const now = new Date()
  now.setDate(now.getDate() + shiftDays)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`
}

export const count = (value: number) => grouped(String(value))

export const bytes = (size: number) => {
  if (size < 1024) return `${size} B`
  return size < 1024 * 1024 ? `${Math.ceil(size / 1024)} KB` : `${Math.ceil(size / 1048576)} MB`
}
