import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crashFor } from './crash/told.ts'

describe('The crash suite', () => {
  it('sees loss where commits are confirmed early, and doubles where keys change', async (t) => {
    const once = () =>
      crashFor(t, {
        cycles: 1,
        faults: ['every process of the database'],
        kinds: ['posting'],
        careless: true,
      })
    let [lost, doubled] = [0, 0]
    // Somebody else's commit may have brought the others' to disk just before the fault.
    for (let attempt = 1; attempt <= 4 && (lost === 0 || doubled === 0); attempt++) {
      const result = await once()
      lost += result.lost.length
      doubled += result.doubled.length
    }
    assert.ok(lost > 0, 'the loss was not seen')
    assert.ok(doubled > 0, 'what was done twice was not seen')
  })
})
