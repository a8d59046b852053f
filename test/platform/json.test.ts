import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../../src/platform/refusal.ts'
import { compareDecimals, decimalDigits, plainDecimal } from '../../src/platform/shape/decimal.ts'
import { parseJson, WrittenNumber } from '../../src/platform/shape/json.ts'

/** A value as JSON.parse would return it, with numbers as doubles. */
const asDoubles = (value: unknown): unknown => {
  if (value instanceof WrittenNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(asDoubles)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asDoubles(item)]))
}

const isAllowed = (text: string) =>
  !text.includes('\0') && !/\p{Surrogate}/u.test(text) && !text.includes('__proto__')

/** Any JSON text within our limits: depth, NUL, surrogate pairs and `__proto__`. */
const json = fc
  .jsonValue({ maxDepth: 12, stringUnit: 'binary' })
  .map((value) => JSON.stringify(value))
  .filter((text) => isAllowed(text) && !text.includes('\\u0000'))

const spaces = fc.stringMatching(/^[ \t\n\r]{0,5}$/)

const refusalOf = (text: string): Refusal | undefined => {
  try {
    parseJson(text)
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal, `${JSON.stringify(text)} threw ${error}`)
    return error
  }
}

/** Whether a text is valid JSON according to JSON.parse. */
const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('The JSON reader', () => {
  it('reads what JSON.parse reads, to the same values', () => {
    fc.assert(
      fc.property(json, spaces, spaces, (text, before, after) => {
        assert.deepEqual(asDoubles(parseJson(before + text + after)), JSON.parse(text))
      }),
      { numRuns: 1000 },
    )
  })

  it('reads numbers as they were written', () => {
    const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String)
    const fraction = fc.stringMatching(/^(\.\d{1,25})?$/)
    const exponent = fc.stringMatching(/^([eE][+-]?\d{1,3})?$/)
    fc.assert(
      fc.property(integer, fraction, exponent, (whole, digits, power) => {
        const text = whole + digits + power
        const value = parseJson(text)
        assert.equal(value instanceof WrittenNumber ? value.text : String(value), text)
        assert.equal(asDoubles(value), JSON.parse(text))
      }),
    )
  })

  it('refuses with a Refusal what is not JSON, and throws nothing else ever', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\\',
      '\\u',
      'null',
      'tru',
      '-',
      '.',
      'e',
      '0',
    ]
    const mess = fc.array(fc.oneof(fc.constantFrom(...pieces, '1', ' '), fc.string()))
    fc.assert(
      fc.property(mess, (parts) => {
        const text = parts.join('')
        if (!isJson(text)) assert.equal(refusalOf(text)?.status, 400, text)
        else refusalOf(text)
      }),
      { numRuns: 3000 },
    )
  })

  it('refuses what is cut off or changed in one place, or reads what JSON.parse reads', () => {
    const spoilt = fc.tuple(json, fc.nat(), fc.nat(), fc.string({ maxLength: 2 }))
    fc.assert(
      fc.property(spoilt, ([text, at, gone, put]) => {
        const place = at % (text.length + 1)
        const changed = text.slice(0, place) + put + text.slice(place + (gone % 3))
        const refusal = refusalOf(changed)
        if (!refusal) assert.deepEqual(asDoubles(parseJson(changed)), JSON.parse(changed))
        else if (isJson(changed)) assert.match(refusal.message, /twice|not allowed|Nesting/)
      }),
      { numRuns: 3000 },
    )
  })

  it('refuses every key that stands twice in one object, wherever that is', () => {
    fc.assert(
      fc.property(fc.string().filter(isAllowed), json, json, (key, one, other) => {
        const name = JSON.stringify(key)
        const text = `[{"a":{${name}:${one},"_b":0,${name}:${other}}}]`
        assert.match(refusalOf(text)?.message ?? '', /twice/)
      }),
    )
  })

  it('survives any nesting', () => {
    for (const open of ['[', '{"a":', '[{"a":'])
      assert.equal(refusalOf(open.repeat(1_000_000))?.status, 400)
  })

  it('tells where the fault is', () => {
    assert.match(refusalOf('{"a":1,"b":?}')?.message ?? '', /at character 12 /)
  })
})

describe('A decimal', () => {
  const digits = fc.stringMatching(new RegExp(`^\\d{1,${decimalDigits}}$`))
  const sign = fc.constantFrom('', '-')

  /** The shortest plain form of the same number. */
  const plainest = (mark: string, whole: string, fraction: string) => {
    const before = whole.replace(/^0+(?=\d)/, '')
    const after = fraction.replace(/0+$/, '')
    const value = after ? `${before}.${after}` : before
    return /[1-9]/.test(value) ? mark + value : value
  }

  it('keeps all of its digits, as a number, a text, or with an exponent', () => {
    fc.assert(
      fc.property(sign, digits, digits, fc.integer({ min: -15, max: 15 }), (mark, a, b, shift) => {
        const whole = a.replace(/^0+(?=\d)/, '')
        const plain = plainest(mark, whole, b)
        assert.equal(plainDecimal(parseJson(`${mark}${whole}.${b}`)), plain)
        assert.equal(plainDecimal(`${mark}${a}.${b}`), plain)
        const all = whole + b
        const exponent = shift - b.length
        const shifted = plainDecimal(new WrittenNumber(`${mark}${all}e${exponent}`))
        if (shifted !== undefined) {
          const back = plainDecimal(new WrittenNumber(`${shifted}e${-shift}`))
          assert.equal(back ?? plain, plain)
        }
      }),
    )
  })

  it('beyond its digits on either side, or that is none, is not read', () => {
    const texts = [
      '',
      ' 1',
      '1 ',
      '+1',
      '.5',
      '5.',
      '0x10',
      '1,000',
      'NaN',
      'Infinity',
      '1e',
      '--1',
    ]
    for (const text of [
      ...texts,
      '1e1000',
      '1'.repeat(19),
      `0.${'0'.repeat(18)}1`,
      '1e-19',
      '1e18',
    ])
      assert.equal(plainDecimal(text), undefined, text)
    for (const value of [null, undefined, true, {}, []])
      assert.equal(plainDecimal(value), undefined)
    assert.equal(plainDecimal('-0.000'), '0')
    assert.equal(plainDecimal('000123.4500'), '123.45')
    assert.equal(plainDecimal(`${'9'.repeat(18)}.${'9'.repeat(18)}`)?.length, 37)
  })

  it('compares as the number that it is', () => {
    const decimal = fc
      .tuple(sign, digits, digits)
      .map(([mark, whole, fraction]) => plainest(mark, whole, fraction))
    const scaled = (text: string) => {
      const [whole = '', fraction = ''] = text.replace('-', '').split('.')
      const value = BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'))
      return text.startsWith('-') ? -value : value
    }
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const expected = scaled(a) < scaled(b) ? -1 : scaled(a) > scaled(b) ? 1 : 0
        assert.equal(compareDecimals(a, b), expected, `${a} ${b}`)
      }),
    )
  })
})
