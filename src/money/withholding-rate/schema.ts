import { type Static, Type } from 'typebox'
import { isExempt } from '../../catalogue/product/income-kinds.ts'
import { IncomeKindName } from '../../catalogue/product/money-schema.ts'
import { countryCode } from '../../parties/investor/checks.ts'
import { paging } from '../../platform/http/paging.ts'
import { countries } from '../../platform/lookup/countries.ts'
import { clearable, DateOnly, decimal, Id, optional, shown } from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { codeFilter, dateFilter, filterParameters, textFilter } from '../../platform/sql/filters.ts'

const twoLetters = new Map(countries.map(([two, three]) => [three, two]))
const alpha2 = (code: unknown) => {
  if (typeof code !== 'string') return code
  const upper = code.trim().toUpperCase() || undefined
  return upper && (twoLetters.get(upper) ?? upper)
}

const CountryCode = {
  ...countryCode(3),
  conformed: alpha2,
  description:
    'The country of residence that the rate applies to. Null: all countries without a rate of ' +
    'their own.',
}
const Rule = Type.Unsafe<'NoTfn' | 'NonResident'>({
  type: 'string',
  enum: ['NoTfn', 'NonResident'],
  description:
    'NoTfn: a party that is resident in Australia has quoted no tax file number, ABN or ' +
    'exemption. NonResident: a party is resident in another country.',
})
const Rounding = Type.Unsafe<'WholeDollar' | 'Cent'>({
  type: 'string',
  enum: ['WholeDollar', 'Cent'],
  description:
    'WholeDollar: the tax is rounded down to whole dollars. Cent: it is rounded to the nearest ' +
    'cent.',
})

const fields = {
  rule: Rule,
  incomeKind: IncomeKindName,
  countryCode: optional(clearable(CountryCode)),
  percentage: decimal({ minimum: '0', maximum: '100' }),
  rounding: Rounding,
  validFrom: DateOnly,
  validTo: optional(clearable(DateOnly)),
}

const consistent: Check = (value) => {
  const {
    incomeKind,
    rule,
    countryCode: country,
    validFrom,
    validTo,
  } = (value ?? {}) as Record<string, unknown>
  return [
    ...(typeof incomeKind === 'string' && isExempt(incomeKind)
      ? [{ field: 'incomeKind', words: 'is exempt: nothing is ever withheld of it' }]
      : []),
    ...(rule === 'NoTfn' && country
      ? [{ field: 'countryCode', words: 'is for the rule NonResident only' }]
      : []),
    ...(typeof validFrom === 'string' && typeof validTo === 'string' && validTo < validFrom
      ? [{ field: 'validTo', words: 'is before validFrom' }]
      : []),
  ]
}

const example = {
  rule: 'NonResident',
  incomeKind: 'Royalty',
  countryCode: 'US',
  percentage: 5,
  rounding: 'Cent',
  validFrom: '2026-07-01',
}
export const WithholdingRateInput = Type.Object(fields, {
  $id: 'WithholdingRateInput',
  check: consistent,
  example,
})
export const WithholdingRateUpdate = Type.Object(
  { rateID: Id, ...fields },
  { $id: 'WithholdingRateUpdate', check: consistent, example: { rateID: 1, ...example } },
)
export const WithholdingRate = shown('WithholdingRate', { rateID: Id, ...fields })
export const WithholdingRateRecord = Type.Object({ rateID: Id, ...fields })
export const WithholdingRateKey = Type.Object({ RateID: Id })

export const rateFilters = {
  Rule: textFilter('r.rule'),
  IncomeKind: textFilter('r.income_kind'),
  CountryCode: codeFilter('r.country_code', (code) => alpha2(code) ?? ''),
  ValidFrom: dateFilter('r.valid_from'),
}
export const WithholdingRateQuery = Type.Object({
  RateID: optional(Id),
  ...filterParameters(rateFilters),
  ...paging,
})

export type WithholdingRateInput = Static<typeof WithholdingRateInput>
export type WithholdingRateUpdate = Static<typeof WithholdingRateUpdate>
export type WithholdingRateKey = Static<typeof WithholdingRateKey>
export type WithholdingRateQuery = Static<typeof WithholdingRateQuery>
