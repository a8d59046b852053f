import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import type { Code } from '../problem-codes.ts'
import type { Problem } from '../refusal.ts'
import { isDate, isDateTime } from './dates.ts'
import { compareDecimals, decimalDigits, plainDecimal } from './decimal.ts'
import { type Check, type DecimalRule, type Node, nodeOf, usualMust } from './keywords.ts'
import { inside, itemOf } from './path.ts'

/** The rules of a schema as one function: it returns everything that is wrong with a value. */
export type Rules = (value: unknown) => Problem[]

// `verbose` adds the schema and the value to each error; the messages are made from them.
const ajv = new Ajv({ allErrors: true, strict: false, messages: false, verbose: true })
// only for readers of the OpenAPI document; the bounds are in the schema
ajv.addFormat('int64', true)
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

/** Reports the findings of a schema's own `check` function like any other error. */
const checked: SchemaValidateFunction = (check: Check, value: unknown) => {
  checked.errors = check(value).map((params) => ({ keyword: 'check', params }))
  return checked.errors.length === 0
}
ajv.addKeyword({ keyword: 'check', errors: true, validate: checked })

const inRange = ({ minimum, above, maximum }: DecimalRule, value: string) =>
  (minimum === undefined || compareDecimals(value, minimum) >= 0) &&
  (above === undefined || compareDecimals(value, above) > 0) &&
  (maximum === undefined || compareDecimals(value, maximum) <= 0)

/** The most problems reported; a body of a thousand bad records need not list them all. */
export const mostProblems = 100

/**
 * Compiled validators by schema: two sets of rules share one, as they differ in path names only.
 */
const compiled = new WeakMap<TSchema, ValidateFunction>()

export function rulesOf(schema: TSchema, name: (path: string) => string = (path) => path): Rules {
  return (value) => {
    const validate = validatorOf(schema)
    if (validate(value)) return []
    // An "if" error only says that its "else" failed, and the rules of the "else" report
    // themselves.
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if')
    return plainly(errors.slice(0, mostProblems).map((error) => problemOf(error, name)))
  }
}

/** Compiled on first use: compiling all validators takes longer than the rest of the start. */
function validatorOf(schema: TSchema) {
  const validate = compiled.get(schema) ?? ajv.compile(withoutNames(schema) as object)
  compiled.set(schema, validate)
  return validate
}

/**
 * Removes `$id`: names are for the OpenAPI document, and the validator refuses a name used twice.
 */
function withoutNames(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNames)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $id: _name, clearable, ...rest } = schema as Record<string, unknown>
  if (clearable) return { if: { type: 'null' }, else: withoutNames(rest) }
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutNames(value)]))
}

/**
 * Reports one fault as one problem: an empty name breaks two rules, and a number in place of a role
 * both has the wrong type and is none of the roles.
 */
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

/** The schema that the broken rule belongs to. */
const parentOf = ({ parentSchema }: ErrorObject): Node => nodeOf(parentSchema ?? {})

/** Rules of an object that concern one of its fields, whose name is added to the path. */
const tellWhere = { required: true, check: true }

/** The specification prescribes this message (7.2). */
const pageTooLarge = (field: string, { data, params }: ErrorObject): Problem => ({
  code: 'page_size_exceeded',
  field,
  message: `${field} = ${data} exceeds the maximum allowed limit of ${params.limit}`,
})

function judgement(error: ErrorObject): [Code, string] {
  const { keyword, params, schema } = error
  const { lookup, must = usualMust } = parentOf(error)
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
