import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import type { Code } from '../problem-codes.ts'
import type { Problem } from '../refusal.ts'
import { isDate, isDateTime } from './dates.ts'
import { compareDecimals, decimalDigits, plainDecimal } from './decimal.ts'
import { type Check, type DecimalRule, type Node, nodeOf } from './keywords.ts'
import { inside, itemOf } from './path.ts'

/** The rules of a schema as one function: all that is wrong with a value, not the first thing. */
export type Rules = (value: unknown) => Problem[]

// Verbose gives each error its schema and value, which the words are made from.
const ajv = new Ajv({ allErrors: true, strict: false, messages: false, verbose: true })
ajv.addFormat('int64', true) // for readers of the document; the bounds are in the schema
ajv.addFormat('date', { validate: isDate })
ajv.addFormat('date-time', { validate: (value: string) => isDateTime(value) || isDate(value) })
ajv.addKeyword({
  keyword: 'decimal',
  errors: false,
  validate: (rule: DecimalRule, value: unknown) =>
    typeof value === 'string' && plainDecimal(value) === value && inRange(rule, value),
})

ajv.addKeyword({
  keyword: 'int64',
  errors: false,
  validate: (_rule: true, value: unknown) => Number.isSafeInteger(value) || isLong(value),
})

const isLong = (value: unknown) =>
  typeof value === 'string' &&
  /^-?\d{1,19}$/.test(value) &&
  BigInt.asIntN(64, BigInt(value)) === BigInt(value)

/** What a schema's own function finds, told like what is wrong with any field. */
const checked: SchemaValidateFunction = (check: Check, value: unknown) => {
  checked.errors = check(value).map((params) => ({ keyword: 'check', params }))
  return checked.errors.length === 0
}
ajv.addKeyword({ keyword: 'check', errors: true, validate: checked })

const inRange = ({ minimum, above, maximum }: DecimalRule, value: string) =>
  (minimum === undefined || compareDecimals(value, minimum) >= 0) &&
  (above === undefined || compareDecimals(value, above) > 0) &&
  (maximum === undefined || compareDecimals(value, maximum) <= 0)

/** At most this many problems are told; a body of a thousand bad records need not list them all. */
export const mostProblems = 100

/** A body is read by two sets of rules that differ in the names of their paths only. */
const compiled = new WeakMap<TSchema, ValidateFunction>()

export function rulesOf(schema: TSchema, name: (path: string) => string = (path) => path): Rules {
  return (value) => {
    const validate = validatorOf(schema)
    if (validate(value)) return []
    // An "if" only says that the rules of its "else" are broken, which say so themselves.
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if')
    return plainly(errors.slice(0, mostProblems).map((error) => problemOf(error, name)))
  }
}

/** Made when it is first needed: all of them together take longer than the rest of the start. */
function validatorOf(schema: TSchema) {
  const validate = compiled.get(schema) ?? ajv.compile(withoutNames(schema) as object)
  compiled.set(schema, validate)
  return validate
}

/** Names are for the document; to the validator, one used in two places is used twice. */
function withoutNames(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNames)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $id: _name, clearable, ...rest } = schema as Record<string, unknown>
  if (clearable) return { if: { type: 'null' }, else: withoutNames(rest) }
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutNames(value)]))
}

/** One fault, one problem: '' breaks two rules of a name, 5 is no text and none of the roles. */
function plainly(problems: Problem[]): Problem[] {
  const wrongType = new Set(
    problems.flatMap(({ code, field }) => (code === 'wrong_type' ? [field] : [])),
  )
  const told = new Set<string>()
  return problems.filter(({ code, field, message }) => {
    if (told.has(message) || (wrongType.has(field) && code !== 'wrong_type')) return false
    told.add(message)
    return true
  })
}

function problemOf(error: ErrorObject, name: (path: string) => string): Problem {
  const { keyword, params } = error
  const parent = fieldPath(error.instancePath)
  const within = keyword === 'required' ? params.missingProperty : params.field
  const path = within && keyword in tellWhere ? inside(parent, within) : parent
  const field = name(path)
  if (keyword === 'maximum' && parentOf(error).pageLimit) return pageTooLarge(field, error)
  const [code, words] = judgement(error)
  return { code, ...(field && { field }), message: `${field || 'The body'} ${words}.` }
}

/** The schema that the broken rule is part of. */
const parentOf = ({ parentSchema }: ErrorObject): Node => nodeOf(parentSchema ?? {})

/** The rules of an object that are about one of its fields. */
const tellWhere = { required: true, check: true }

/** These words are the specification's (7.2). */
const pageTooLarge = (field: string, { data, params }: ErrorObject): Problem => ({
  code: 'page_size_exceeded',
  field,
  message: `${field} = ${data} exceeds the maximum allowed limit of ${params.limit}`,
})

function judgement(error: ErrorObject): [Code, string] {
  const { keyword, params, schema } = error
  const { lookup, must = 'must not be empty' } = parentOf(error)
  switch (keyword) {
    case 'check':
      return [params.code ?? 'invalid_value', params.words]
    case 'required':
      return ['required', 'is required']
    case 'type':
      return ['wrong_type', `must be ${kinds[params.type] ?? params.type}`]
    case 'maxLength':
      return ['too_long', `is longer than ${params.limit} characters`]
    case 'minLength':
    case 'pattern':
      return ['invalid_value', must]
    case 'maxItems':
      return ['too_many', `has more than ${params.limit} items`]
    case 'minItems':
      return ['required', 'needs at least one item']
    case 'minimum':
    case 'maximum':
      return ['out_of_range', `must be ${params.comparison} ${params.limit}`]
    case 'enum':
      return lookup
        ? ['unknown_lookup', `is not an id of the lookup category ${lookup}`]
        : ['invalid_value', `must be one of ${params.allowedValues.join(', ')}`]
    case 'format':
      return ['invalid_date', `must be ${formats[params.format] ?? params.format}`]
    case 'int64':
      return ['wrong_type', 'must be a whole number of at most 64 bits']
    case 'decimal':
      return ['invalid_decimal', decimalWords(schema as DecimalRule)]
    default:
      return ['invalid_value', `is not valid (${keyword})`]
  }
}

const kinds: Record<string, string> = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}
const formats: Record<string, string> = {
  date: 'a date of the calendar, YYYY-MM-DD',
  'date-time': 'a moment in UTC, YYYY-MM-DDTHH:MM:SSZ',
}

function decimalWords({ minimum, above, maximum }: DecimalRule): string {
  const bounds = [
    minimum !== undefined && `at least ${minimum}`,
    above !== undefined && `more than ${above}`,
    maximum !== undefined && `at most ${maximum}`,
  ].filter(Boolean)
  const digits = `a number of up to ${decimalDigits} digits before and after the point`
  return `must be ${digits}${bounds.length > 0 ? `, ${bounds.join(' and ')}` : ''}`
}

/** /bizEntityParties/1/person/gender → bizEntityParties[1].person.gender */
const fieldPath = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (path, part) => (/^\d+$/.test(part) ? itemOf(path, Number(part)) : inside(path, part)),
      '',
    )
