import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { abaFile, splitForAba } from '../../src/money/payment-run/aba.ts'

const header = {
  bankCode: 'WBC',
  userName: 'Example Unit Registry',
  userID: '301500',
  description: 'DISTRIBUTION',
  processingDate: '2025-03-31',
  trace: { bsb: '033088', accountNumber: '987654' },
  remitterName: 'Example Fund',
}
const details = [
  {
    ...{ bsb: '062-000', accountNumber: '12345678', code: '56', cents: 40_121n },
    ...{ title: 'Smith J', reference: 'DIST 17 ACC 1001', taxCents: 0n },
  },
  {
    ...{ bsb: '733195', accountNumber: '00-1234', indicator: 'X', code: '56', cents: 28_000n },
    ...{ title: 'Lee K', reference: 'DIST 17 ACC 1002', taxCents: 12_000n },
  },
]

describe('An ABA file', () => {
  it('is that of the published layout, byte for byte', () => {
    const contra = { title: 'Example Fund Dist Account', reference: 'DIST 17 BALANCE' }
    const sample = readFileSync(join('test', 'money', 'sample.aba'), 'latin1')
    assert.equal(abaFile(header, details, contra), sample)
  })

  it('without a contra has the credits as its net', () => {
    const lines = abaFile(header, details, undefined).split('\r\n')
    const total = `7999-999${' '.repeat(12)}000006812100000681210000000000${' '.repeat(24)}000002`
    assert.equal(lines.at(-2), total.padEnd(120))
    assert.ok(lines.slice(0, -1).every((line) => line.length === 120))
  })

  it('has names in their fields that begin in letters of no bank', () => {
    const [first] = details
    const remitterName = `${'Фонд '.repeat(4)}Fund`
    const one = { ...first!, title: `${'株式会社'.repeat(9)} Nihon Trust` }
    const [, record] = abaFile({ ...header, remitterName }, [one], undefined).split('\r\n')
    assert.equal(record!.slice(30, 62), 'NIHON TRUST'.padEnd(32))
    assert.equal(record!.slice(96, 112), 'FUND'.padEnd(16))
  })

  it('has letters of other languages as one writes them without', () => {
    const titles: Record<string, string> = {
      'Łukasz Źdźbło': 'LUKASZ ZDZBLO',
      'Søren Ørsted': 'SOREN ORSTED',
      'Đorđe Ðorsteinn Þór': 'DORDE DORSTEINN THOR',
      'Æsa Ǽ Œuvre': 'AESA AE OEUVRE',
      'Weiß GROẞ Straße': 'WEISS GROSS STRASSE',
      'Işık İnci Ħal Ŋ Ŧ': 'ISIK INCI HAL N T',
      'O’Brien–Smith `x´': "O'BRIEN-SMITH 'X'",
      'Ｔｏｋｙｏ ﬁrst': 'TOKYO FIRST',
    }
    for (const [title, written] of Object.entries(titles)) {
      const record = abaFile(header, [{ ...details[0]!, title }], undefined).split('\r\n')[1]!
      assert.equal(record.slice(30, 62), written.padEnd(32))
      assert.equal(record.length, 120)
    }
  })

  it('has no more records than its total can count, nor more money', () => {
    const amount = '0.01'
    const many = Array.from({ length: 1_000_000 }, () => ({ amount }))
    const sizes = (parts: unknown[][]) => parts.map(({ length }) => length)
    // The contra is one, too.
    assert.deepEqual(sizes(splitForAba(many, true)), [999_998, 2])
    const large = ['99999999.99', '0.01', '99999999.98', '0.01'].map((one) => ({ amount: one }))
    assert.deepEqual(sizes(splitForAba(large, true)), [1, 2, 1])
  })
})
