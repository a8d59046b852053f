import { type Problem, RegistryError } from '../api/error.ts'
import { type LabelOf, spoken } from './labels.ts'

/** A field of one of several records sent at once; the first record is [0]. */
const place = /(^|\s)\[(\d+)\]\.(\w+(?:\[\d+\]|\.\w+)*)/g

const lacking =
  'You may not do this: it needs the permission $1. An administrator of the registry can give it ' +
  'to you.'

const taken =
  'The product does not exist, or you may not see it any more: nothing was saved. An ' +
  'administrator of the registry can give you access to it.'

const nobody = (_message: string, field: string, id: string) =>
  `No record was found: ${spoken(pathOf(field).replace(/.*\./, ''))} ${id}.`

/** Rewords messages for people: the fields by which a program insists are part of the form. */
export const forPeople = (message: string) =>
  message
    .replace(/: give \w*nvestmentPrice, or say .*$/, '.')
    .replace(/^This needs the permission (\S+?)(?:, too)?\.$/, lacking)
    .replace(/^No record was found for (\S+\.)?productID \d+\.$/, taken)
    .replace(/^No record was found for (?!\[)(\S+) (.+)\.$/, nobody)
    .replace('the sign that GET shows for it', 'the sign that it had')
    .replace(/ Send confirm: true .*$| If both are meant, send .*$/, '')
    .replace(/(; see GET| with (POST|PUT))( \/\S+)?\.$/, '.')
    .replace(/; again: true takes it once more\.$/, '.')
    .replaceAll(place, (_, before, index, field) => {
      const line = `Line ${Number(index) + 1}`
      return `${before}${line}: ${spoken(pathOf(field))}`
    })

/**
 * A refusal of records that were pasted as lines, with line numbers instead of record numbers: some
 * lines held no record.
 */
export function inLines<E extends Error | null>(error: E, numbers: number[]): E | RegistryError {
  if (!(error instanceof RegistryError)) return error
  const { status, message, problems, requestID } = error
  const placed = (text: string) =>
    text.replaceAll(place, (all, _before, index) =>
      all.replace(`[${index}]`, `[${(numbers[Number(index)] ?? Number(index) + 1) - 1}]`),
    )
  const told = problems.map((one) => ({ ...one, message: placed(one.message) }))
  return new RegistryError(status, placed(message), told, requestID)
}

/**
 * A refusal with the paths of the form, where these differ from the paths that the service counts.
 */
export function inForm(error: unknown, placeOf: (path: string) => string): unknown {
  if (!(error instanceof RegistryError)) return error
  const { status, message, problems, requestID } = error
  const placed = problems.map((problem) => {
    if (!problem.field) return problem
    const field = placeOf(pathOf(problem.field))
    const rest = problem.message.slice(problem.field.length)
    return { ...problem, field, message: isNamed(problem) ? field + rest : problem.message }
  })
  return new RegistryError(status, message, placed, requestID)
}

/** The most problems that are shown one by one; a pasted list may have a hundred. */
const mostLines = 10

const noLabels: LabelOf = () => undefined

/** A failure in lines, one for each problem, in which fields have the names that people see. */
export function linesOf(error: unknown, labelOf = noLabels): string[] {
  if (!(error instanceof Error)) return ['Something went wrong in this page.']
  const problems = error instanceof RegistryError ? error.problems : []
  if (problems.length === 0) return [forPeople(error.message)]
  const lines = [...new Set(problems.map((problem) => lineOf(problem, labelOf)))]
  const more = lines.length - mostLines
  return more > 0 ? [...lines.slice(0, mostLines), `And ${more} more.`] : lines
}

function lineOf(problem: Problem, labelOf: LabelOf): string {
  const { field = '' } = problem
  const words = forPeople(problem.message)
  if (field.startsWith('[')) return words
  const path = pathOf(field)
  const name = isNamed(problem) ? (labelOf(path) ?? spoken(path)) : ''
  const rest = name ? words.slice(field.length) : words
  // Other fields in the message are beside the field that it is about.
  return name + rest.replaceAll(camelCase, (other) => labelOf(path.replace(/\w*$/, other)) ?? other)
}
const camelCase = /\b[a-z]+[A-Z]\w*\b/g

/** Whether a message begins with the path of its field. */
const isNamed = ({ field, message }: Problem) =>
  field !== undefined && message.startsWith(field) && /^[\s:]/.test(message.slice(field.length))

/**
 * The problems of an answer by the field path of the form: `a[0].b` is `a.0.b`. A problem with one
 * value of a list is reported for the list as well, which may be a single field of the form.
 */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof RegistryError)) return {}
  const named = error.problems.filter(({ field }) => field !== undefined)
  return Object.fromEntries(
    named.flatMap(({ field = '', message }) => {
      const path = pathOf(field)
      const words = forPeople(besideField(field, message))
      return [path.replace(/\.\d+$/, ''), path].map((one) => [one, words])
    }),
  )
}

/** A message without the path of the field that it is shown at; of pasted lines it names the line. */
const besideField = (field: string, message: string) =>
  message.startsWith(`${field} `) && !field.startsWith('[')
    ? `It ${message.slice(field.length + 1)}`
    : message

const pathOf = (field: string) => field.replaceAll(/\[(\d+)\]/g, '.$1').replace(/^\./, '')
