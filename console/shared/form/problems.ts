import { RegistryError } from '../api/error.ts'

/** A field of one of several records sent at once; the first record is [0]. */
const place = /(^|\s)\[(\d+)\]\.(\w+)/g

const lacking =
  'You may not do this: it needs the permission $1. Whoever keeps the users of this registry can ' +
  'give it to you.'

const taken =
  'This product is not there, or not yours to see any more: nothing is saved. Whoever keeps the ' +
  'users of this registry can give it to you.'

/** Rewords messages for people: the fields by which a program insists are part of the form. */
export const forPeople = (message: string) =>
  message
    .replace(/: give investmentPrice, or say .*$/, '.')
    .replace(/^This needs the permission (\S+?)(?:, too)?\.$/, lacking)
    .replace(/^No record was found for (\S+\.)?productID \d+\.$/, taken)
    .replace('the sign that GET shows for it', 'the sign that it had')
    .replace(/ Send confirm: true .*$| If both are meant, send .*$/, '')
    .replace(/(; see GET| with (POST|PUT))( \/\S+)?\.$/, '.')
    .replace(/; again: true takes it once more\.$/, '.')
    .replaceAll(place, (_, before, index, field) => `${before}Line ${Number(index) + 1}: ${field}`)

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
