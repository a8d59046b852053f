const dayMs = 86_400_000

/** Days are texts without a time zone. */
export const addDays = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

export const daysBetween = (from: string, to: string) =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs)

/** The ends of the quarters after a day and before another. */
export function quarterEnds(from: string, to: string): string[] {
  const ends: string[] = []
  for (let year = Number(from.slice(0, 4)); year <= Number(to.slice(0, 4)); year++)
    for (const end of ['03-31', '06-30', '09-30', '12-31']) ends.push(`${year}-${end}`)
  return ends.filter((end) => end > from && end < to)
}
