import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callerOf } from '../../src/platform/http/caller.ts'
import { turns } from '../../src/platform/http/turns.ts'
import { Refusal } from '../../src/platform/refusal.ts'

const full = 'full'
/** Pieces of work, each of which ends when it is told to. */
function pieces() {
  const ends: (() => void)[] = []
  const started: string[] = []
  const work = (name: string) => () => {
    started.push(name)
    return new Promise<void>((resolve) => ends.push(resolve))
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const endOne = async () => {
    ends.shift()?.()
    await settle()
  }
  return { started, work, endOne, settle }
}
/** Ignores the failure of a turn that still waits when a test ends and then gives up. */
const leave = (turn: Promise<unknown>) => void turn.catch(() => {})
const of = (caller: string) => ({ caller })
const isBusy = (error: unknown) =>
  error instanceof Refusal && error.status === 503 && Boolean(error.headers['Retry-After'])

describe('Turns', () => {
  it('go to whoever has used least, however much another has waiting', async () => {
    const { started, work, endOne, settle } = pieces()
    const inTurn = turns({ most: 1, longestQueue: 100, patience: 500, full })
    for (let i = 0; i < 10; i++) leave(inTurn(work('greedy'), of('a')))
    await settle()
    leave(inTurn(work('late'), of('b')))
    leave(inTurn(work('late'), of('c')))
    await new Promise((resolve) => setTimeout(resolve, 20))
    await endOne()
    await endOne()
    await endOne()
    assert.deepEqual(started.slice(0, 4), ['greedy', 'late', 'late', 'greedy'])
  })

  it('are all for one who is alone, but for what is kept spare for the next to come', async () => {
    const { started, work, settle } = pieces()
    const inTurn = turns({ most: 4, spare: 1, longestQueue: 100, patience: 500, full })
    for (let i = 0; i < 6; i++) leave(inTurn(work('a'), of('a')))
    await settle()
    assert.equal(started.length, 3)
    leave(inTurn(work('b'), of('b')))
    await settle()
    assert.deepEqual(started.at(-1), 'b')
  })

  it('count the large by its size, and let what is larger than all pass alone', async () => {
    const { started, work, endOne, settle } = pieces()
    const inTurn = turns({ most: 100, longestQueue: 100, patience: 500, full })
    leave(inTurn(work('small'), of('a'), 60))
    leave(inTurn(work('next'), of('b'), 60))
    leave(inTurn(work('huge'), of('c'), 1000))
    await settle()
    assert.deepEqual(started, ['small'])
    await endOne()
    assert.deepEqual(started, ['small', 'next'])
    await endOne()
    assert.deepEqual(started, ['small', 'next', 'huge'])
  })

  it('are refused with 503 beyond a share of the queue, while others still get in', async () => {
    const { work, settle } = pieces()
    const inTurn = turns({ most: 1, longestQueue: 10, longestShare: 3, patience: 500, full })
    leave(inTurn(work('a'), of('a')))
    for (let i = 0; i < 3; i++) leave(inTurn(work('a'), of('a')))
    await settle()
    await assert.rejects(inTurn(work('a'), of('a')), isBusy)
    let isRefused = false
    inTurn(work('b'), of('b')).catch(() => {
      isRefused = true
    })
    await settle()
    assert.equal(isRefused, false)
  })

  it('are waited for so long and no longer', async () => {
    const { started, work, endOne } = pieces()
    const inTurn = turns({ most: 1, longestQueue: 10, patience: 20, full })
    leave(inTurn(work('a'), of('a')))
    await assert.rejects(inTurn(work('b'), of('b')), isBusy)
    await endOne()
    assert.deepEqual(started, ['a'])
  })

  for (const [how, waiting, patience] of [
    ['met a full queue', 3, 2000],
    ['waited too long', 0, 500],
  ] as const)
    it(`are not saved up by one who ${how} and returns`, async () => {
      const { started, work, endOne, settle } = pieces()
      const inTurn = turns({ most: 1, longestQueue: 3, longestShare: 3, patience, full })
      const send = (name: string) => leave(inTurn(work(name), of(name)))
      for (let i = 0; i <= waiting; i++) send('steady')
      await assert.rejects(inTurn(work('returning'), of('returning')), isBusy)
      // The steady one uses much, and whoever comes next starts from there.
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (waiting === 0) send('steady')
      for (let i = 0; i < Math.max(waiting, 1); i++) await endOne()
      for (const name of ['new', 'returning', 'returning']) send(name)
      await settle()
      for (let i = 0; i < 3; i++) await endOne()
      const others = started.filter((name) => name !== 'steady')
      assert.deepEqual(others, ['new', 'returning', 'returning'])
    })

  it('are shared out to an IPv6 network as to one, and to each IPv4 address by itself', () => {
    const names = (addresses: string[]) =>
      new Set(addresses.map((ip) => callerOf({ actor: null, ip }))).size
    assert.equal(names(['2001:db8::1:2:3:4', '2001:db8::9:2:3:4', '2001:0DB8:0:0::1']), 1)
    assert.equal(names(['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::1', '::1']), 4)
    assert.equal(names(['fe80::1%eth0', 'fe80::2%eth0']), 1)
    assert.equal(names(['198.51.100.1', '::ffff:198.51.100.1', '::ffff:c633:6401']), 1)
    assert.equal(names(['198.51.100.1', '::ffff:198.51.100.2']), 2)
  })
})
