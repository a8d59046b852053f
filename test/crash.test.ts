import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { crash, type Options, type Result } from './crash/harness.ts'

/** A few cycles in every test run; `npm run test:crash` runs more, with other seeds. */
const cycles = Number(process.env.REGISTRY_CRASH_CYCLES ?? 6)
const seed = Number(process.env.REGISTRY_CRASH_SEED ?? Date.now() % 1_000_000)

async function run(t: TestContext, options: Partial<Options>): Promise<Result> {
  const say = (line: string) => t.diagnostic(line)
  say(`seed ${seed}`)
  const result = await crash({ seed, cycles, say, ...options })
  const { acknowledged, refused, inDoubt, committed, lost, doubled, slowestRecovery } = result
  say(
    `${result.cycles} cycles: ${acknowledged} acknowledged, ${refused} refused, ` +
      `${inDoubt} in doubt of which ${committed} had been done; ` +
      `${lost.length} lost, ${doubled.length} doubled; slowest recovery ${slowestRecovery} ms`,
  )
  return result
}

describe('A registry whose processes are killed (-9) at random moments', () => {
  it('has every acknowledged write once, and a retry under its key settles the rest', async (t) => {
    const { lost, doubled, troubles, ...counts } = await run(t, {})
    assert.deepEqual({ lost, doubled, troubles }, { lost: [], doubled: [], troubles: [] })
    assert.equal(counts.cycles, cycles)
    assert.ok(counts.inDoubt > 0, 'nothing was under way when the fault struck')
  })
})

describe('The crash suite', () => {
  it('sees loss where commits are confirmed early, and doubles where keys change', async (t) => {
    const once = () =>
      run(t, {
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
