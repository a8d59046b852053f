import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { newHolders, operationsOn, send } from './crash/operations.ts'
import { findings, judge, look, type Sent, verdictOf } from './crash/oracle.ts'
import { randomFrom } from './crash/random.ts'
import type { Reply } from './support/client.ts'
import { freshDatabase } from './support/database.ts'
import { type Node, startNode } from './support/node.ts'
import { temporaryFolder, until } from './support/process.ts'

/** Both nodes keep their files in one folder, as on a shared volume. */
const dataDir = temporaryFolder()
let connection: pg.ClientConfig
let nodes: Node[]
let next: ReturnType<typeof operationsOn>
const sent: Sent[] = []

const newNode = () => startNode(connection, { REGISTRY_DATA_DIR: dataDir })

before(async () => {
  connection = await freshDatabase()
  nodes = [await newNode(), await newNode()]
  const fund = await newHolders({ admin: nodes[0]!.admin, connection })
  next = operationsOn(fund, random, ['posting', 'posting', 'posting', 'document', 'distribution'])
})
after(() => Promise.all(nodes.map((node) => node.stop())))

const random = randomFrom(Date.now())

/** A request that got no usable answer, and the node that it was sent to. */
type Failure = { node: Node; id: string; status: number | undefined; code: string | undefined }

/** Returns the nodes that are in rotation, of which a request goes to one. */
type Rotation = () => Node[]

/**
 * Starts clients that write until they are stopped. A client whose request fails repeats it under
 * the same key, at a remaining node; before that, `onFailure` can see what the attempt has done.
 */
function startLoad(rotation: Rotation, onFailure: (failure: Failure, one: Sent) => unknown) {
  let stopped = false
  let count = 0
  const call = async () => {
    while (!stopped) {
      const one: Sent = { ...next(), outcome: 'in doubt' }
      for (let tries = 0; one.outcome === 'in doubt'; tries++) {
        if (tries === 50) throw new Error(`${one.id} found no end.`)
        await attempt(one)
      }
      sent.push(one)
      count++
    }
  }
  const attempt = async (one: Sent) => {
    const node = random.one(rotation())
    const result = await send(node.admin, one).catch((error: Error) => error)
    if (result instanceof Error || result.status >= 500) {
      await onFailure({ node, id: one.id, ...whyOf(result) }, one)
      return sleep(50)
    }
    assert.ok([200, 409].includes(result.status), result.text)
    one.outcome = result.status === 200 ? 'acknowledged' : 'refused'
    if (result.status === 200) one.onDone?.(result)
  }
  const calls = Promise.all(Array.from({ length: 12 }, call))
  return {
    reaches: (more: number) => {
      const goal = count + more
      return Promise.race([calls, until('writes', () => count >= goal)])
    },
    stop: async () => {
      stopped = true
      await calls
    },
  }
}

const whyOf = (result: Reply | Error) => ({
  status: result instanceof Error ? undefined : result.status,
  code: result instanceof Error ? (result.cause as { code?: string })?.code : undefined,
})

async function assertComplete() {
  const { lost, doubled, unwanted } = judge(await look(connection), sent)
  const troubles = await findings(connection)
  const none = { lost: [], doubled: [], unwanted: [], troubles: [] }
  assert.deepEqual({ lost, doubled, unwanted, troubles }, none)
}

/** Asks all nodes for their health again and again, as a load balancer does; keeps the healthy. */
function startBalancer() {
  let [well, stopped] = [[...nodes], false]
  const isWell = async ({ anyone }: Node) =>
    anyone.get('/Common/HealthCheck').then(
      ({ status }) => status === 200,
      () => false,
    )
  const watch = async () => {
    while (!stopped) {
      const looked = await Promise.all(
        nodes.map(async (node) => ((await isWell(node)) ? [node] : [])),
      )
      well = looked.flat()
      await sleep(50)
    }
  }
  const watching = watch()
  const stop = async () => {
    stopped = true
    await watching
  }
  return { rotation: () => well, stop }
}

describe('Of two nodes on one database, under load,', () => {
  it('one that is killed (-9) takes no write along; the other settles what it left', async () => {
    const [first, other] = nodes as [Node, Node]
    const failures: Failure[] = []
    let rotation = [first, other]
    const load = startLoad(
      () => rotation,
      (failure) => failures.push(failure),
    )
    await load.reaches(100)
    const killed = first.kill()
    await load.reaches(20)
    rotation = [other]
    await killed
    await load.reaches(100)
    await load.stop()
    assert.ok(failures.length > 0, 'nothing was under way when it was killed')
    assert.deepEqual(
      failures.filter(({ node, status }) => node !== first || status !== undefined),
      [],
    )
    await assertComplete()
    nodes = [await newNode(), other]
  })

  it('one that is told to stop (SIGTERM) finishes every request it has begun', async () => {
    const [first, other] = nodes as [Node, Node]
    const failures: Failure[] = []
    const begun: string[] = []
    let rotation = [first, other]
    // Callers that look at no health check, and know only when the door is shut.
    const load = startLoad(
      () => rotation,
      async (failure, one) => {
        failures.push(failure)
        if (verdictOf(await look(connection), one) !== 'never') begun.push(one.id)
        rotation = [other]
      },
    )
    await load.reaches(100)
    assert.equal(await first.stop(), 0)
    await load.reaches(50)
    await load.stop()
    const atFault = failures.filter(({ node, status }) => node !== first || status !== undefined)
    assert.deepEqual({ atFault, begun }, { atFault: [], begun: [] })
    await assertComplete()
    nodes = [await newNode(), other]
  })

  it('both are replaced one by one, and no caller of a balancer notices', async () => {
    const failures: Failure[] = []
    const balancer = startBalancer()
    const load = startLoad(balancer.rotation, (failure) => failures.push(failure))
    await load.reaches(50)
    for (const place of [0, 1]) {
      const old = nodes[place]!
      assert.equal(await old.stop(), 0)
      nodes[place] = await newNode()
      await load.reaches(50)
    }
    await load.stop()
    await balancer.stop()
    assert.deepEqual(failures, [])
    await assertComplete()
  })
})
