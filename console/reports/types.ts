/** The inputs of a kind of report, by its lookup id. */
type Asked = {
  /** Asks for a distribution. */
  distribution?: true
  /** Asks for a period instead of one date. */
  period?: true
  /** Made as letters to investors: one PDF, or a zip of all. */
  statement?: true
  /** Has no table, only letters. */
  onlyLetters?: true
  /** Cannot look back, because the past of its data is not kept. */
  presentOnly?: true
  /** Does not ask for a class. */
  everyClass?: true
}

const asked: Record<number, Asked> = {
  3: { period: true },
  4: { distribution: true },
  7: { period: true, statement: true, everyClass: true },
  8: { distribution: true, statement: true, onlyLetters: true, presentOnly: true },
  9: { statement: true, onlyLetters: true, presentOnly: true, everyClass: true },
  10: { presentOnly: true, everyClass: true },
  11: { presentOnly: true, everyClass: true },
  12: { period: true, presentOnly: true, everyClass: true },
  13: { presentOnly: true, everyClass: true },
  14: { period: true },
  15: { period: true, statement: true, onlyLetters: true, everyClass: true },
}

export const askedOf = (type: number | null): Asked => asked[type ?? 0] ?? {}

const names: Record<string, string> = {
  pdf: 'PDF',
  xlsx: 'Excel (XLSX)',
  csv: 'CSV',
  json: 'JSON',
  zip: 'A PDF for each investor (ZIP)',
}

export function formatsOf(type: number | null) {
  const { statement, onlyLetters } = askedOf(type)
  const formats = [
    ...(statement ? ['zip'] : []),
    'pdf',
    ...(onlyLetters ? [] : ['xlsx', 'csv', 'json']),
  ]
  return formats.map((value) => ({ value, label: names[value] ?? value }))
}
