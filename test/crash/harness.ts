import { setTimeout as sleep } from 'node:timers/promises'
import { rowsOf } from '../support/database.ts'
import { getBytes, sha256 } from '../support/files.ts'
import { until } from '../support/process.ts'
import { ended } from '../support/reports.ts'
import { type Fault, faults } from './faults.ts'
import { type Kind, newHolders, type Operation, operationsOn, send } from './operations.ts'
import { fileTroubles, findings, judge, look, type Sent, verdictOf } from './oracle.ts'
import { randomFrom } from './random.ts'
import { type Registry, registryOn, stretchCommits, weakenCommits } from './registry.ts'

export type Options = {
  seed: number
  cycles: number
  faults?: readonly Fault[]
  kinds?: Kind[]
  /** The control run: the database confirms too early, and clients retry under another key. */
  careless?: boolean
  say: (line: string) => void
}

export type Result = {
  cycles: number
  acknowledged: number
  refused: number
  inDoubt: number
  /** How many of the writes in doubt were done. */
  committed: number
  lost: string[]
  doubled: string[]
  /** Any other fault. */
  troubles: string[]
  slowestRecovery: number
}

const clients = 16
const everyKind: Kind[] = [
  ...Array<Kind>(32).fill('posting'),
  ...Array<Kind>(3).fill('document'),
  ...(['distribution', 'report'] as const),
]
/** A request that takes longer than this counts as hung. */
const hung = 120_000

/** Runs cycles of load, SIGKILL at a random moment, recovery, and a check of every write. */
export async function crash(options: Options): Promise<Result> {
  const { cycles, say, careless = false } = options
  const random = randomFrom(options.seed)
  const registry = registryOn()
  await registry.start()
  const fund = await newHolders({
    admin: registry.client(),
    connection: await registry.connection(),
  })
  const next = operationsOn(fund, random, options.kinds ?? everyKind)
  await (careless ? weakenCommits(registry) : stretchCommits(registry))
  const known = options.faults ?? (Object.keys(faults) as Fault[])
  const plan = Array.from({ length: Math.ceil(cycles / known.length) }, () =>
    random.shuffled(known),
  )
  const sent: Sent[] = []
  const result = emptyResult()
  for (const fault of plan.flat().slice(0, cycles)) {
    const now = await burdened(registry, next, random.integer(300, 2000), fault)
    sent.push(...now.sent)
    result.slowestRecovery = Math.max(result.slowestRecovery, now.recovery)
    const { inDoubt, committed } = await reckon(registry, sent, result, careless)
    say(
      `${++result.cycles} SIGKILL for ${fault}: ${now.sent.length} writes, ${inDoubt} in doubt, ` +
        `${committed} of them done; well again after ${now.recovery} ms`,
    )
  }
  result.troubles.push(...(await reportTroubles(registry)))
  result.troubles.push(...(await fileTroubles(await registry.connection(), registry.dataDir)))
  result.acknowledged = sent.filter(({ outcome }) => outcome === 'acknowledged').length
  result.refused = sent.filter(({ outcome }) => outcome === 'refused').length
  await registry.stop()
  return result
}

const emptyResult = (): Result => ({
  ...{ cycles: 0, acknowledged: 0, refused: 0, inDoubt: 0, committed: 0, slowestRecovery: 0 },
  ...{ lost: [], doubled: [], troubles: [] },
})

/** Lets clients write until a request fails; meanwhile the fault strikes. */
async function burdened(registry: Registry, next: () => Operation, delay: number, fault: Fault) {
  const sent: Sent[] = []
  let stopped = false
  const work = async () => {
    while (!stopped) {
      const operation = next()
      const reply = await inTime(send(registry.client(), operation))
      sent.push({ ...operation, outcome: outcomeOf(reply) })
      if (reply?.status === 200) operation.onDone?.(reply)
      if (!reply || reply.status >= 500) return
    }
  }
  const all = Promise.all(Array.from({ length: clients }, work))
  await until('the load to begin', () => sent.length >= clients)
  await sleep(delay)
  const struck = Date.now()
  await faults[fault]({ program: registry.program(), dataDir: registry.dataDir })
  await Promise.race([all, sleep(1000)]) // some go on: the next of theirs fails, or finds it well
  stopped = true
  await all
  // Its number is free for the next only when it is gone.
  if (/server/.test(fault)) await registry.program().exited
  await registry.recover()
  return { sent, recovery: Date.now() - struck }
}

type Answer = Awaited<ReturnType<typeof send>>

/** The answer, or undefined if the connection broke. */
const inTime = (answer: Promise<Answer>): Promise<Answer | undefined> => {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('A request was never answered.')), hung).unref()
  })
  return Promise.race([answer.catch(() => undefined), late])
}

function outcomeOf(reply: Answer | undefined): Sent['outcome'] {
  if (!reply || reply.status === 503) return 'in doubt'
  if (reply.status === 200) return 'acknowledged'
  if (reply.status === 409) return 'refused'
  throw new Error(`Not an answer to expect here: ${reply.status} ${reply.text}`)
}

/** Repeats the writes in doubt, and then checks that every write is there as often as it should. */
async function reckon(registry: Registry, sent: Sent[], result: Result, careless: boolean) {
  const connection = await registry.connection()
  const before = await look(connection)
  const doubtful = sent.filter(({ outcome }) => outcome === 'in doubt')
  let committed = 0
  for (const one of doubtful) {
    const verdict = verdictOf(before, one)
    if (verdict === 'once') committed++
    else if (verdict !== 'never') result.troubles.push(`${one.id} ${one.path} was done ${verdict}`)
    const key = careless ? `${one.id} again` : one.id
    const reply = await send(registry.client(), one, key)
    const replayed = reply.headers.get('idempotency-replayed') === 'true'
    if (replayed !== (verdict === 'once') && !careless)
      result.troubles.push(`${one.id} ${one.path}: ${verdict} before, and then ${reply.text}`)
    one.outcome = outcomeOf(reply)
    if (one.outcome === 'acknowledged') one.onDone?.(reply)
  }
  if (careless) await repeatOne(registry, sent, await look(connection))
  const { lost, doubled, unwanted } = judge(await look(connection), sent)
  result.lost = [...new Set([...result.lost, ...lost])]
  result.doubled = [...new Set([...result.doubled, ...doubled])]
  result.troubles.push(...unwanted.map((one) => `${one} was refused, and is there`))
  if (!careless) result.troubles.push(...(await findings(connection)))
  result.inDoubt += doubtful.length
  result.committed += committed
  return { inDoubt: doubtful.length, committed }
}

/** Repeats a write under another key, like a client that has forgotten its key. */
async function repeatOne(
  registry: Registry,
  sent: Sent[],
  picture: Awaited<ReturnType<typeof look>>,
) {
  const one = sent.find((one) => /Deposit/.test(one.path) && verdictOf(picture, one) === 'once')
  if (one) await send(registry.client(), one, `${one.id} forgotten`)
}

/** The reports that do not end, or whose files are not as their records say. */
async function reportTroubles(registry: Registry): Promise<string[]> {
  const client = registry.client()
  const connection = await registry.connection()
  // Who died at one is given up after half a minute; report-worker.test.ts has the time to wait.
  await rowsOf(
    connection,
    `update report set lease_date = coalesce(lease_date, created_date) - interval '30 seconds'
    where report_status_id in (1, 2)`,
  )
  const ids = await rowsOf(connection, 'select report_id as id from report order by 1')
  const troubles: string[] = []
  for (const { id } of ids) {
    const { reportStatusID, errorMessage, fileSize } = await ended(client, id)
    if (reportStatusID !== 3) troubles.push(`report ${id} failed: ${errorMessage}`)
    const { data } = await client.get(`/Report/File?ReportID=${id}`)
    const { bytes } = await getBytes(client, `/Report/File?ReportID=${id}`)
    if (data?.sha256 !== sha256(bytes) || bytes.length !== fileSize)
      troubles.push(`report ${id} is not what its record says`)
  }
  return troubles
}
