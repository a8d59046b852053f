import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decimalFields, readJson } from '../../console/shared/api/decimals.ts'
import { divide, multiply, subtract, typed } from '../../console/shared/decimal.ts'
import { day, money, units } from '../../console/shared/format.ts'
import { startService } from '../support/service.ts'

type Schema = {
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  type?: string | string[]
  $ref?: string
}

/** The fields of every answer in the service's own description, by the kind of their numbers. */
async function numberFields() {
  const service = await startService()
  const document = await (await fetch(`${service.url}/openapi.json`)).json().finally(service.stop)
  const kinds = { decimal: new Set<string>(), integer: new Set<string>() }
  const walk = (schema: Schema, name?: string) => {
    const types = [schema.type ?? []].flat()
    if (name && types.includes('number')) kinds.decimal.add(name)
    if (name && types.includes('integer')) kinds.integer.add(name)
    for (const [field, one] of Object.entries(schema.properties ?? {})) walk(one, field)
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(one, name)
    if (schema.items) walk(schema.items, name)
  }
  for (const schema of Object.values<Schema>(document.components.schemas)) walk(schema)
  return kinds
}

describe('Decimals in the browser', () => {
  it('are those of the service’s schemas, every one and no other', async () => {
    const { decimal, integer } = await numberFields()
    assert.ok(decimal.size > 20)
    const known = new Set<string>(decimalFields)
    const missing = [...decimal].filter((name) => !known.has(name) && !inputOnly.has(name))
    assert.deepEqual(missing, [], 'decimals that the console would read as numbers')
    assert.deepEqual(
      [...known].filter((name) => integer.has(name)),
      [],
      'fields that are whole numbers elsewhere',
    )
  })

  it('are read digit for digit, and nothing else is touched', () => {
    const text =
      '{"amount":123456789012345678.123456789012345678,"recordCount":2,' +
      '"name":"\\"amount\\":5, \\"x","quantity" : -0.10,"price":1e-7}'
    assert.deepEqual(readJson(text), {
      amount: '123456789012345678.123456789012345678',
      recordCount: 2,
      name: '"amount":5, "x',
      quantity: '-0.10',
      price: '1e-7',
    })
  })

  it('are shown grouped, as they are', () => {
    assert.equal(money('1234567.5'), '1,234,567.50')
    assert.equal(money('-0.125'), '−0.125')
    assert.equal(units('98765432109876543.00012345'), '98,765,432,109,876,543.00012345')
    assert.equal(money(null), '')
    assert.equal(day('2026-02-09'), '9 Feb 2026')
  })

  it('are worked out exactly, rounded half away from zero', () => {
    assert.equal(divide('1000', '3', 4), '333.3333')
    assert.equal(divide('-1', '8', 2), '-0.13')
    assert.equal(multiply('0.1', '0.2', 18), '0.02')
    assert.equal(subtract('100000000000000000.01', '0.02'), '99999999999999999.99')
    assert.equal(typed('1,250.50'), '1250.5')
    assert.equal(typed('12x'), undefined)
  })
})

/** Decimals that callers send and no answer holds. */
const inputOnly = new Set([
  'entryFeeAmount',
  'entryFeeDiscountPercentage',
  'entryFeeOverridePercentage',
  'entryFeePercentage',
  'fromInvestmentPrice',
  'toInvestmentPrice',
])
