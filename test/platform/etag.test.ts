import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { textWithout } from '../../src/platform/http/etag.ts'

const { stringify } = JSON

describe('what a tag leaves out', () => {
  const value = fc.jsonValue({ stringUnit: 'binary' })
  const name = fc.oneof(fc.string(), fc.constantFrom('balance', 'balances', '"balance":'))

  it('moves it by no value, and everything else does, whatever the texts say', () => {
    fc.assert(
      fc.property(value, value, name, (first, other, text) => {
        const record = (left: unknown, kept: unknown) =>
          stringify({ text, kept, balance: left, accounts: [{ balances: left, name: text }] })
        const tagged = (left: unknown, kept: unknown) =>
          textWithout(record(left, kept), ['balance', 'balances'])
        assert.equal(tagged(first, other), tagged(other, other))
        if (stringify(first) === stringify(other)) return
        const isLeftOut = /"balances?":/.test(stringify([first, other]))
        if (!isLeftOut) assert.notEqual(tagged(0, first), tagged(0, other))
      }),
    )
  })
})
