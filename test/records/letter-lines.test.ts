import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Letter } from '../../src/records/statement/letter.ts'
import { printLetters } from '../../src/records/statement/press.ts'
import { placesOf } from '../support/readers.ts'

const letter: Letter = {
  title: 'Holding statement',
  addressee: [
    'Ann Smith\nas trustee',
    'Level 3\r\n1 Elm Street',
    'The Old Mill House on the Corner of the Green and the Long Road to the North, Building 17',
    'SYDNEY NSW 2000',
  ],
  references: [
    ['Account', '1000123'],
    ['Class', 'Growth\nA'],
    ['Period', '1 July 2025 to 30 June 2026'],
  ],
  sections: [
    {
      heading: 'What\nwas held',
      columns: [
        { title: 'Class', width: 3 },
        { title: 'Units', width: 1, isNumber: true },
      ],
      rows: [
        ['Growth\u2028fund', '1,000.00'],
        ['Income', '2.00'],
      ],
    },
  ],
  notes: ['A note\nof two lines.'],
}

it('Letters have each name in a line of its own, and nothing over anything else', async () => {
  const paper = { issuer: { name: 'Kurrajong\nFunds' }, moment: new Date('2026-07-01T00:00:00Z') }
  const places = await placesOf(await printLetters(paper, [letter]))
  const whole = places.map(({ text }) => text)
  for (const line of [
    ...['Ann Smith as trustee', 'Level 3, 1 Elm Street', 'SYDNEY NSW 2000', 'Kurrajong Funds'],
    ...['Growth A', 'Growth fund', 'What was held', 'A note', 'of two lines.'],
  ])
    assert.ok(whole.includes(line), `${line} is in ${whole.join('|')}`)
  for (const [i, one] of places.entries())
    for (const other of places.slice(i + 1)) {
      const isBeside = one.x + one.width <= other.x || other.x + other.width <= one.x
      assert.ok(isBeside || Math.abs(one.y - other.y) > 6, `${one.text} and ${other.text}`)
    }
})
