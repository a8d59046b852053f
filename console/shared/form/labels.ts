/** Finds the label of a field by its path; undefined if the form around does not show the field. */
export type LabelOf = (path: string) => string | undefined

/** The labels of the fields of a form. Fields with equal labels are numbered. */
export const labelsIn =
  (form: Element | null | undefined): LabelOf =>
  (path) => {
    const fields = [...(form?.querySelectorAll<HTMLInputElement>('[data-path]') ?? [])]
    const at = (wanted: string) => fields.find(({ dataset }) => dataset.path === wanted)
    // A problem with one value of a list belongs to the field of the whole list.
    const field = at(path) ?? at(path.replace(/\.\d+$/, ''))
    const label = field && labelOf(field)
    if (!field || !label) return undefined
    const alike = fields.filter((one) => labelOf(one) === label)
    return alike.length > 1 ? `${label} (${alike.indexOf(field) + 1})` : label
  }

/** The text of a field's label, without the asterisk of a required field. */
const labelOf = (field: HTMLInputElement) =>
  [...(field.labels ?? [])]
    .map(({ textContent }) => textContent.replace(/\s*\*$/, '').trim())
    .find(Boolean) ??
  field.getAttribute('aria-label') ??
  undefined

const words: Record<string, string> = {
  abn: 'ABN',
  acn: 'ACN',
  bizEntityID: 'investor',
  bizEventID: 'notice',
  bsb: 'BSB',
  corporateActionID: 'distribution',
  iban: 'IBAN',
  investmentID: 'class',
  taxationFileNumber: 'tax file number',
  url: 'URL',
}

/** A path in plain words, for a field that has no label: `issuer.name` is "Issuer name". */
export function spoken(path: string): string {
  const names = path.split('.')
  const isIndex = (name: string | undefined) => /^\d+$/.test(name ?? '')
  const index = Number(names.findLast(isIndex) ?? 0)
  const last = names.findLastIndex((name) => !isIndex(name))
  const text = names
    .filter((name, i) => i === last || !(isIndex(name) || isIndex(names[i + 1])))
    .map((name) => words[name] ?? spaced(name))
    .join(' ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${index > 0 ? ` (${index + 1})` : ''}`
}

const spaced = (name: string) =>
  name
    .replace(/ID$/, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
