const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const time = /([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?/.source
// PostgreSQL refuses offsets beyond 15:59; no place on Earth has more than 14.
const offset = /Z|[+-](0\d|1[0-4]):?[0-5]\d/.source
const dateTimePattern = new RegExp(`^(\\d{4}-\\d{2}-\\d{2})T${time}(${offset})?$`)

/** A day of the calendar, YYYY-MM-DD. PostgreSQL would also take 'infinity' and 'tomorrow'. */
export function isDate(value: unknown): value is string {
  const match = typeof value === 'string' ? datePattern.exec(value) : null
  if (!match) return false
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
  return (
    year > 0 && month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= daysOf(year, month))
  )
}

/** No register goes back further; an earlier date is a misprint. */
export const firstDate = '1900-01-01'

/** A moment, YYYY-MM-DDTHH:MM:SSZ; without an offset it is UTC. */
export function isDateTime(value: unknown): value is string {
  const match = typeof value === 'string' ? dateTimePattern.exec(value) : null
  return match !== null && isDate(match[1])
}

const daysOf = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()
