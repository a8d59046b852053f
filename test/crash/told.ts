import type { TestContext } from 'node:test'
import { crash, type Options, type Result } from './harness.ts'

const seed = Number(process.env.REGISTRY_CRASH_SEED ?? Date.now() % 1_000_000)

/** Runs the crash harness for a test, whose report says the seed and what became of the writes. */
export async function crashFor(
  t: TestContext,
  options: Partial<Options> & { cycles: number },
): Promise<Result> {
  const say = (line: string) => t.diagnostic(line)
  say(`seed ${seed}`)
  const result = await crash({ seed, say, ...options })
  const { acknowledged, refused, inDoubt, committed, lost, doubled, slowestRecovery } = result
  say(
    `${result.cycles} cycles: ${acknowledged} acknowledged, ${refused} refused, ` +
      `${inDoubt} in doubt of which ${committed} had been done; ` +
      `${lost.length} lost, ${doubled.length} doubled; slowest recovery ${slowestRecovery} ms`,
  )
  return result
}
