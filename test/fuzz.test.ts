import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { verify } from '../src/operations/verify/verify.ts'
import { permissions } from '../src/platform/permission.ts'
import { rowsOf } from './support/database.ts'
import { type Answer, type Sent, senderTo } from './support/fuzz-client.ts'
import { type Draft, draftsOf, jsonOf, queryText, type Recall } from './support/fuzz-requests.ts'
import { endOf, importFor } from './support/imports.ts'
import {
  answerJudge,
  type Document,
  readDocument,
  type Served,
  servedBy,
} from './support/openapi.ts'
import { ownSecret } from './support/personas.ts'
import { temporaryFolder } from './support/process.ts'
import { ended, workFor } from './support/reports.ts'
import { namesOf } from './support/request-names.ts'
import { requests } from './support/requests.ts'
import {
  mailNowhere,
  adminPassword as password,
  type Service,
  startService,
} from './support/service.ts'
import { watchState } from './support/state.ts'
import { walks } from './support/walks.ts'
import { namesIn, newWorld, type World } from './support/world.ts'

/**
 * Every operation gets valid, nearly valid and hostile requests, made from its own entry in the
 * OpenAPI document. The answer must always be one that the document lists, and never a fault of
 * ours. A failure prints the smallest request that fails, and the seed that repeats it.
 */
const runs = Number(process.env.FUZZ_RUNS ?? 2_500 * walks)
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const lanes = 12
const rounds = 4

let service: Service
let document: Document
let served: Served[]
let judge: ReturnType<typeof answerJudge>
let sender: ReturnType<typeof senderTo>
let alpha: World
before(async () => {
  const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
  // The log tells the cause of a fault.
  service = await startService({ ...folder, ...mailNowhere, REGISTRY_LOG_LEVEL: 'error' })
  document = await readDocument(service.anyone)
  served = servedBy(document)
  judge = answerJudge(document)
  sender = senderTo(service.url, lanes)
  await seedWorlds(folder)
  await signPeopleIn()
})
after(async () => {
  sender.stop()
  await service.stop()
})

/** Makes two products, each with records that only a worker or several steps can make. */
async function seedWorlds(folder: Record<string, string>) {
  const stopWorker = await workFor(service, folder)
  const stopImports = await importFor(service, folder)
  try {
    for (const name of ['Alpha', 'Beta']) {
      const world = await newWorld(service, name)
      alpha ??= world
      const { make, ...records } = world
      learn(records)
      own.push(new Map([...namesIn(records)].reverse()))
      for (const stages of [0, 0, 1, 1, 2, 2, 2]) learn(await make.distribution(stages))
      await ended(service.admin, world.report.reportID)
      await endOf(service.admin, world.import.importID)
    }
  } finally {
    await stopImports()
    await stopWorker()
  }
}

// What earlier answers told, by the name of the field that told it.

const told = new Map<string, (string | number)[]>()
const mostTold = 200
/** The ids and names of each world, whose records belong together. */
const own: Map<string, string | number>[] = []
let made = 0

function learn(value: unknown): void {
  for (const [name, inner] of namesIn(value)) {
    const values = told.get(name) ?? []
    told.set(name, values)
    if (!values.includes(inner)) values.push(inner)
    if (values.length > mostTold) values.shift()
  }
}

/** Finds a value by field name: fromAccountID and AccountID.in get the values of accountID. */
const recall: Recall = (field, choice) => {
  const [name = ''] = field.toLowerCase().split('.')
  if (choice === undefined) return `new ${++made}`
  const single = name.replace(/ids$/, 'id')
  const known = [...told.keys()].filter((one) => single.endsWith(one))
  const [best] = known.sort((a, b) => b.length - a.length)
  const values = best === undefined ? [1, 2, 3] : told.get(best)!
  if (/password/.test(name)) return password
  const mine = choice < 0 ? own[-1 - choice]?.get(best ?? '') : undefined
  return mine ?? values[Math.abs(choice) % values.length]!
}

// Who asks. Signing out, changing rights and passwords are among the operations: they are done by
// users of their own, who are replaced when they have lost their session.

/** The manager of users lacks a permission that the others have, and so cannot change them. */
const rights = {
  operator: { permissions: permissions.filter((one) => one !== 'User.Write') },
  reader: { permissions: permissions.filter((one) => one.endsWith('.Read')) },
  manager: { permissions: permissions.filter((one) => one !== 'User.Read') },
  visitor: { role: 'ReadOnly' },
}
const tokens: Record<string, string | undefined> = { liar: 'a.b.c', other: 'Basic a.b.c' }

async function renew(who: keyof typeof rights, more: object = {}) {
  tokens[who] = (await service.userWith({ ...rights[who], ...more })).token
}

async function signPeopleIn() {
  const productIDs = [told.get('productid')!.at(-1)]
  await renew('operator', { productIDs })
  tokens.scoped = tokens.operator
  tokens.admin = service.admin.token
  for (const who of Object.keys(rights)) await renew(who as keyof typeof rights)
}

const others = ['scoped', 'reader', 'nobody', 'liar', 'other']

function askerOf({ path, method }: Served, who: number) {
  if (path === '/User/RefreshToken' && who < 0) return 'nobody' // not another's token beside it
  // Not who made the run, or asked for what waits.
  if (/^\/(PaymentRun\/Approve|Approval\/(Approve|Reject))$/.test(path) && who < 0) return 'manager'
  const endsOwn = ['/User/Logout', '/User/Session'].includes(path)
  if (!endsOwn && who < 0) return 'admin'
  const isOwn = endsOwn || path === '/User/Password'
  if (isOwn && who < 3) return 'visitor'
  if (who > 0) return others[who - 1]!
  return path === '/User' && method !== 'GET' ? 'manager' : 'operator'
}

let sent = 0
/** The operations of accepted and of refused requests, by request id. */
const accepted = new Map<string, string>()
const refused = new Map<string, string>()

function requestOf(one: Served, draft: Draft): Sent {
  const { body, headers, query } = draft
  const text = body && ('text' in body ? body.text : jsonOf(body.value, body.quirks, recall))
  const token = tokens[askerOf(one, draft.who)]
  return {
    method: one.method,
    path: draft.path + queryText(query, recall),
    headers: {
      Version: '2.0',
      'X-Request-Id': `fuzz-${++sent}`,
      ...headers,
      ...(token !== undefined && { Authorization: token }),
    },
    ...(text !== undefined && { body: text }),
  }
}

async function attempt(one: Served, draft: Draft): Promise<Answer> {
  const request = requestOf(one, draft)
  const answer = await sender.send(request)
  const problem = problemOf(one, request, answer)
  if (problem !== undefined) throw new Error(`${problem}\n${shown(one, request, answer)}`)
  remember(one, request, answer)
  const who = askerOf(one, draft.who)
  const hasEnded = answer.status === 401 && answer.text.includes('"session_ended"')
  if (hasEnded && tokens[who] === request.headers.Authorization) lost.add(who)
  return answer
}

const lost = new Set<string>()
async function replaceLost() {
  for (const who of lost) {
    lost.delete(who)
    const again = () => renew(who as keyof typeof rights)
    // An approval rule that another lane has just made may hold back the new user.
    await again().catch(() => letPass().then(again))
  }
}

function problemOf(one: Served, request: Sent, { status, headers, text }: Answer) {
  if (status >= 500) return `a fault: ${status}`
  if (status === 200 && headers['content-disposition']) return undefined // the bytes of a file
  if (headers['content-type'] !== 'application/json; charset=utf-8') return 'not JSON'
  if (headers['x-request-id'] !== request.headers['X-Request-Id']) return 'no request id'
  return judge(one, status, JSON.parse(text))
}

const shown = ({ name }: Served, { path, headers, body }: Sent, { status, text }: Answer) => {
  const { Authorization, ...others } = headers
  const asked = `${name}: ${path}\n${JSON.stringify(others)}\n${body ?? ''}`
  return `${asked}\n=> ${status} ${text.slice(0, 2000)}`
}

/** Whether a request was done, or accepted for later. */
const isDone = (status: number) => status === 200 || status === 202

function remember({ name }: Served, { headers }: Sent, answer: Answer) {
  const { status, text } = answer
  const id = headers['X-Request-Id']!
  if (!isDone(status)) refused.set(id, name)
  else if (!answer.headers['idempotency-replayed']) accepted.set(id, name)
  if (isDone(status) && !answer.headers['content-disposition'] && text.length < 50_000)
    learn(JSON.parse(text).data)
}

/** The share of requests for an operation; those that hash passwords are slow and get fewer. */
const shareOf = ({ path, method }: Served) => (/^\/User/.test(path) && method !== 'GET' ? 0.25 : 1)

/** Runs the same number of requests for every operation, `lanes` at a time, in rounds. */
async function storm(): Promise<string[]> {
  const share = runs / rounds / served.reduce((sum, one) => sum + shareOf(one), 0)
  const tasks = Array.from({ length: rounds }, (_, round) =>
    served.map((one, i) => ({ one, seed: seed + round * served.length + i })),
  ).flat()
  const failures: string[] = []
  const lane = async () => {
    for (let task = tasks.shift(); task; task = tasks.shift()) {
      const { one } = task
      const property = fc.asyncProperty(draftsOf(one, document.components.schemas), (draft) =>
        attempt(one, draft).then(replaceLost),
      )
      const numRuns = Math.ceil(share * shareOf(one))
      const { failed, errorInstance } = await fc.check(property, { seed: task.seed, numRuns })
      if (failed) failures.push((errorInstance as Error).message)
      if (one.path === '/ApprovalRule') await letPass()
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return failures
}

/** Ends all approval rules once they have been tested, since writes that they hold are not done. */
const letPass = () => rowsOf(service.connection, 'update approval_rule set is_active = false')

/** Operations that write although they refuse: failures to sign in are recorded and audited. */
const isKept = (name: string) =>
  /^(POST|PUT|DELETE) \/User\/(Login|RefreshToken|Password|SecondFactor.*)$/.test(name)
/** A table that refused uploads change, too: files are noted before they are stored. */
const claims = 'public.stored_file'
const isWrite = (name: string) => !/^GET |Preview$/.test(name)

describe(`No input breaks it (FUZZ_SEED=${seed} FUZZ_RUNS=${runs})`, () => {
  it('what is right is accepted, and answered as the document says', async () => {
    for (const one of served.filter(({ name }) => name !== ownSecret))
      for (const builder of requests[one.name]!) {
        const { query = {}, body } = await builder(alpha, namesOf('native'))
        const { status, text } = await attempt(one, {
          path: one.path,
          query: Object.entries(query).map(([name, value]) => ({ name, value })),
          headers: { 'Content-Type': 'application/json' },
          who: -1,
          ...(body && { body: { value: body, quirks: {} } }),
        })
        assert.ok(isDone(status), `${one.name}: ${text}`)
        if (askerOf(one, -1) === 'visitor') lost.add('visitor') // may have ended their own session
        await replaceLost()
      }
  })

  it('a refused write has written nothing', async (test) => {
    const state = await watchState(service.connection, [claims])
    test.after(state.stop)
    const writes = served.filter(({ name }) => isWrite(name) && !isKept(name))
    for (const [i, one] of writes.entries()) {
      const drafts = draftsOf(one, document.components.schemas)
      for (const draft of fc.sample(drafts, { seed: seed + i, numRuns: 8 })) {
        const before = await state.look()
        const { status, text } = await attempt(one, draft)
        const changed = isDone(status) ? [] : await state.changedSince(before)
        await replaceLost()
        assert.deepEqual(changed, [], `${one.name}: ${JSON.stringify(draft)} ${text}`)
      }
    }
  })

  it('every answer is one that the document knows', async () => {
    const failures = await storm()
    assert.equal(failures.length, 0, failures.slice(0, 20).join('\n\n'))
  })

  it('every accepted write stands in the trail once, and no refused one does', async () => {
    const rows = await rowsOf(
      service.connection,
      `select id, count(*)::int as records
      from audit, unnest(coalesce(request_ids, array[request_id])) id
      where id like 'fuzz-%' group by 1`,
    )
    const records = new Map(rows.map(({ id, records }) => [id, records]))
    const wrong = [...accepted, ...refused].filter(([id, name]) => {
      const told = records.get(id) ?? 0
      // Approving is told of, and so is what it lets happen.
      const most = name === 'POST /Approval/Approve' ? 2 : 1
      const isRight = accepted.has(id) && isWrite(name) ? told >= 1 && told <= most : told === 0
      return !isRight && !(refused.has(id) && isKept(name))
    })
    assert.deepEqual(wrong, [])
  })

  it('and has left JavaScript itself alone', () => {
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  })

  it('what was accepted is a register that is right', async () => {
    const wrong = (await verify(service.connection)).filter(
      ({ found, isNote }) => found > 0 && !isNote,
    )
    assert.deepEqual(wrong, [])
  })
})
