import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readPrice } from '../../console/classes/pasted.ts'
import { decimalFields } from '../../console/shared/api/decimal-fields.ts'
import { readJson } from '../../console/shared/api/decimals.ts'
import { divide, multiply, subtract, typed } from '../../console/shared/decimal.ts'
import { beside, day, money, units } from '../../console/shared/format.ts'
import { kinds } from '../../console/transactions/kinds.ts'
import { readPasted } from '../../console/transactions/pasted.ts'
import { numberFields } from '../golden/decimal-fields.ts'
import { startService } from '../support/service.ts'

describe('Decimals in the browser', () => {
  it('are decimals wherever their names stand', async () => {
    const service = await startService()
    const { integer } = await numberFields(service).finally(service.stop)
    assert.deepEqual(
      decimalFields.filter((name) => integer.has(name)),
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
    assert.equal(money('1234567.5', 2), '1,234,567.50')
    assert.equal(money('-0.125', 2), '−0.125')
    assert.equal(money('1234567', 0), '1,234,567')
    assert.equal(money('1.5', 3), '1.500')
    assert.equal(units('98765432109876543.00012345', 4), '98,765,432,109,876,543.00012345')
    assert.equal(money(null, 2), '')
    assert.equal(day('2026-02-09'), '9 Feb 2026')
  })

  it('stand beside names that turn their own letters alone', () => {
    assert.equal(beside(['1000001', 'Ann Smith', null, '']), '1000001 · Ann Smith')
    const turned = 'Ann \u2069\u202ehtimS'
    assert.equal(beside([turned, '1,250.00'], ' '), '\u2068Ann \u202ehtimS\u2069 1,250.00')
  })

  it('are worked out exactly, rounded half away from zero', () => {
    assert.equal(divide('1000', '3', 4), '333.3333')
    assert.equal(divide('-1', '8', 2), '-0.13')
    assert.equal(multiply('0.1', '0.2', 18), '0.02')
    assert.equal(subtract('100000000000000000.01', '0.02'), '99999999999999999.99')
  })

  it('are read as they are written, or not at all: no comma that may be a point is dropped', () => {
    const thousands = ['1,250.50', '1250.50', ' 1 250.50 ', '1\u00a0250.50', '1\u202f250.5']
    for (const text of thousands) assert.equal(typed(text), '1250.5', text)
    assert.equal(typed('−1,234,567'), '-1234567')
    for (const text of ['12,5', '0,050', '1.250,50', '1,2345', '12 5', '1250\t1300', '12x'])
      assert.equal(typed(text), undefined, text)
  })

  it('of a pasted line are the whole of what follows the day', () => {
    const priceDate = '2026-06-30'
    for (const line of ['30/06/2026\t1 042.50', '2026-06-30; 1,042.5', '2026-06-30, 1042.50'])
      assert.deepEqual(readPrice(line, 1), { priceDate, price: '1042.5' })
    assert.deepEqual(readPrice('30/06/2026\t1.04\t1.05', 2), {
      problem: 'Line 2: no price in “1.04\t1.05”',
    })
  })

  it('stand beside a day of the calendar, or are not taken: none is of month 30', () => {
    for (const day of ['06/30/2026', '31/02/2026', '2026-02-31', '30/06/26']) {
      assert.deepEqual(readPrice(`${day}\t1.04`, 3), { problem: `Line 3: no date in “${day}”` })
      const [line] = readPasted(`1000001\tORD\t${day}\t5`, kinds.Deposit!)
      assert.equal(line?.problem, `“${day}” is no day`)
    }
    assert.equal(readPasted('1\tORD\t29/2/2024\t5', kinds.Deposit!)[0]?.problem, undefined)
    assert.equal(day('2026-30-06'), '')
  })
})
