import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crashFor } from './crash/told.ts'

/** A few cycles in every test run; `npm run test:crash` runs more, with other seeds. */
const cycles = Number(process.env.REGISTRY_CRASH_CYCLES ?? 3)

describe('A registry whose processes are killed (-9) at random moments', () => {
  it('has every acknowledged write once, and a retry under its key settles the rest', async (t) => {
    const { lost, doubled, troubles, ...counts } = await crashFor(t, { cycles })
    assert.deepEqual({ lost, doubled, troubles }, { lost: [], doubled: [], troubles: [] })
    assert.equal(counts.cycles, cycles)
    assert.ok(counts.inDoubt > 0, 'nothing was under way when the fault struck')
  })
})
