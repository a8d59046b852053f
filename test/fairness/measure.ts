import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { callFrom, flood, type Times, timesDuring } from '../support/fairness.ts'
import { type Attack, attacksOn } from './attacks.ts'
import { type Field, openField } from './field.ts'

/**
 * `npm run test:fairness` lets one caller attack real nodes, each in its own process, and prints
 * what it measured. The p99 of another caller must be at most three times that beside as many
 * harmless calls, nobody within their share may be refused, and two seconds after the attack
 * everything must be as before. It measures time, so it needs an otherwise idle machine; `npm test`
 * has a version without times.
 */
const seconds = Number(process.env.FAIRNESS_SECONDS ?? 8)
const most = 3

const tell = (line: string) => process.stderr.write(`${line}\n`)
const milliseconds = (times: Times) => `${times.p50.toFixed(0)} / ${times.p99.toFixed(0)} ms`

for (const count of [1, 2])
  describe(`On ${count === 1 ? 'one node' : 'two nodes'}, while one caller`, () => {
    let field: Field
    before(async () => {
      field = await openField(count)
      tell(`${count} node(s), p50 / p99 of another user's calls`)
    })
    after(() => field.close())

    for (const [name, attackOn] of Object.entries(attacksOn))
      it(name, async () => {
        const attack = await attackOn(field)
        try {
          await judge(field, name, attack)
        } finally {
          await attack.end?.()
        }
      })
  })

/** Measures the other caller beside harmless calls, beside the attack, and after it. */
async function judge(field: Field, name: string, attack: Attack) {
  const ask = attack.victim ?? field.deposit
  const harmless = () =>
    callFrom(field.urlOf(), { method: 'GET', path: '/Product?PageSize=1', token: field.greedy })
  await timesDuring(ask, () => flood(attack.callers, 1000, harmless)) // compiled and in memory
  const calm = await timesDuring(ask, () => flood(attack.callers, seconds * 1000, harmless))
  const during = await timesDuring(ask, () => flood(attack.callers, seconds * 1000, attack.call))
  await attack.end?.()
  await sleep(2000)
  const later = await timesDuring(ask, () => flood(attack.callers, 2000, harmless))
  tell(
    `  ${name}: ${milliseconds(calm)} beside harmless calls, ${milliseconds(during)} beside it ` +
      `(${(during.p99 / calm.p99).toFixed(1)}), ${milliseconds(later)} after; ` +
      `${during.refused} of ${during.count} refused; greatest process ${field.mostMemory()} MiB`,
  )
  assert.equal(during.refused, 0, 'somebody within their share is refused')
  assert.ok(during.p99 <= most * calm.p99, `${during.p99} ms beside ${calm.p99} ms`)
  assert.ok(later.p99 <= most * calm.p99, `${later.p99} ms two seconds after it ended`)
}
