import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { permissions } from '../../src/platform/permission.ts'
import { type Client, clientOf, type Reply } from '../support/client.ts'
import { endOf, importFor } from '../support/imports.ts'
import {
  goldenOperations,
  queryOf,
  readDocument,
  type Schema,
  servedBy,
} from '../support/openapi.ts'
import {
  claimsOf,
  endedKeys,
  endedTokens,
  forgeriesOf,
  halfSignedIn,
  newKey,
  otherHeaders,
  ownSecret,
  peopleOnly,
  tokenFor,
  whileEnrolling,
} from '../support/personas.ts'
import { temporaryFolder } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { ended, workFor } from '../support/reports.ts'
import {
  type Builder,
  forms,
  inQuery,
  namesOf,
  type Request,
  type Requests,
} from '../support/request-names.ts'
import { requests } from '../support/requests.ts'
import { mailNowhere, type Service, startService } from '../support/service.ts'
import { watchState } from '../support/state.ts'
import { namesIn, newWorld, type World } from '../support/world.ts'

/**
 * Every operation is called by every kind of caller who may not call it: each must get the right
 * refusal, and nothing may be written. The refused request is a valid one (support/requests.ts): an
 * authorised caller then sends the same request, and it must succeed.
 */
const golden = goldenOperations()

/** The permission that a request of this walk needs, where it is not that of the golden list. */
const accessOf = (name: string) => {
  if (/^GET \/Document/.test(name)) return 'Document.Read'
  return ofAnother.includes(name) ? 'User.Write' : golden.get(name)!
}
/** All users may call these about themselves; the walk calls them about other users. */
const ofAnother = ['PUT /User/Password', 'DELETE /User/SecondFactor', 'DELETE /ApiKey']
/** Further permissions that an operation needs: nobody grants or orders what they may not see. */
const alsoNeeded = (name: string): string[] => {
  if (/ \/(User|ApiKey)/.test(name)) return ['Product.Read']
  if (name === 'GET /PaymentRun/File') return ['PaymentDetail.Read']
  if (/^(GET \/Import\/File|DELETE \/Import)$/.test(name)) return ['Investment.Write']
  if (name === 'POST /Import') return ['Investment.Write', 'Document.Read']
  if (/ \/Approval\//.test(name)) return ['Investment.Write']
  return / \/Report/.test(name) ? permissions.filter((one) => one.endsWith('.Read')) : []
}
/** Operations for which a scope of one product is not enough. */
const forAllProducts = [
  'POST /Product',
  'DELETE /Product',
  'POST /WithholdingRate',
  'PUT /WithholdingRate',
  'DELETE /WithholdingRate',
  'GET /Audit/Verify',
]
/** Operations on records that belong to no product and that users of any scope may read. */
const ofNone = ['GET /WithholdingRate', 'GET /Audit/Seal', 'GET /Audit/Verify', 'GET /ApprovalRule']
/** For deletions: a linked party cannot be deleted, and an unlinked party belongs to everybody. */
const ofOthers: Requests = {
  'DELETE /Person': [({ person }, names) => inQuery(names.person(person))],
  'DELETE /Organisation': [({ organisation }, names) => inQuery(names.organisation(organisation))],
}
/** Tables that a refusal may change: an upload is noted first, and collected if nothing uses it. */
const claims = ['public.stored_file', 'public.api_key'] // the last use of a key is noted, too

let service: Service
let state: Awaited<ReturnType<typeof watchState>>
let alpha: World
let beta: World
let strangers: [string, string | undefined][]
let half: Client
before(async () => {
  const folder = { REGISTRY_DATA_DIR: temporaryFolder(), ...mailNowhere }
  service = await startService(folder)
  await makeWorlds(folder)
  state = await watchState(service.connection, claims)
  const forged = forgeriesOf(claimsOf(service.admin.token!))
  strangers = Object.entries({
    'no token': undefined,
    ...forged,
    ...(await endedTokens(service)),
    ...(await otherHeaders(service)),
    ...(await endedKeys(service)),
  })
  half = await halfSignedIn(service)
})
after(async () => {
  await state?.stop()
  await service.stop()
})

async function makeWorlds(folder: Record<string, string>) {
  const stopWorker = await workFor(service, folder)
  const stopImports = await importFor(service, folder)
  try {
    alpha = await newWorld(service, 'Alpha')
    beta = await newWorld(service, 'Beta')
    for (const { report, statements } of [alpha, beta])
      for (const { reportID } of [report, statements]) await ended(service.admin, reportID)
    for (const world of [alpha, beta]) await endOf(service.admin, world.import.importID)
  } finally {
    await stopImports()
    await stopWorker()
  }
}

const users = new Map<string, Promise<Client>>()
/** A client of a user with these rights; each user is created once. */
function userWith(rights: object): Promise<Client> {
  const name = JSON.stringify(rights)
  const user = users.get(name) ?? service.userWith(rights)
  users.set(name, user)
  return user
}

function call(client: Client, name: string, { query = {}, body, headers }: Request) {
  const [method = '', path = ''] = name.split(' ')
  const text = new URLSearchParams(query as Record<string, string>).toString()
  return client.call(method, text ? `${path}?${text}` : path, body, headers)
}

/** Statuses other than 200 for authorised callers; only the requester may cancel an approval. */
const expected: Record<string, number> = {
  [ownSecret]: 409,
  'POST /Approval/Cancel': 403,
  'POST /Import': 202,
}
const succeeded = (name: string, { status, text }: Reply) =>
  assert.equal(status, expected[name] ?? 200, `${name}: ${text}`)

describe('The walk', () => {
  it('has a place for every operation', () => {
    assert.deepEqual(Object.keys(requests).sort(), [...golden.keys()].sort())
  })

  it('has the key that makes good tokens, so that the forged ones mean something', async () => {
    const good = clientOf(service.url, tokenFor(claimsOf(service.admin.token!)))
    succeeded('GET /User', await good.get('/User'))
  })
})

// First, while every person of the worlds is linked: one that is linked to none is everybody's.
describe('No read shows a user of another product anything of this one', () => {
  for (const name of golden.keys())
    if (name.startsWith('GET ') && accessOf(name).includes('.'))
      it(name, async () => {
        const stranger = await userWith({ permissions, productIDs: [beta.productID] })
        await showsItsOwn(name)
        const asked = await queriesOf(name)
        assert.ok(asked.length > 0)
        await Promise.all(
          asked.map(async (query) => {
            const { status, text } = await call(stranger, name, { query })
            const isTold = status === 200 && tellsOfAlpha(text)
            assert.ok(!isTold, `${JSON.stringify(query)}: ${text.slice(0, 2000)}`)
          }),
        )
      })
})

/** Asserts that an answer to an authorised caller contains the name of the world. */
async function showsItsOwn(name: string) {
  if (name.endsWith('/File') || ofNone.includes(name)) return // in base64, or of no product
  if (name === 'GET /Webhook/Delivery') return // it has ids only
  if (name === 'GET /Import/Template') return // it is about nobody
  const request = await requests[name]![0]!(alpha, namesOf('native'))
  const { text } = await call(service.admin, name, request)
  assert.ok(tellsOfAlpha(text), text)
}

/** Whether a text is about the world Alpha; events have no names, so the product id counts, too. */
const tellsOfAlpha = (text: string) =>
  text.includes('Alpha') || text.includes(`"productID":${alpha.productID},`)

/** Queries with each parameter that could find records of Alpha, alone and within product Beta. */
async function queriesOf(name: string): Promise<Record<string, unknown>[]> {
  const { operation } = servedBy(await readDocument(service.anyone)).find(
    (one) => one.name === name,
  )!
  const { make, ...records } = alpha
  const known = new Map([...namesIn(records)].reverse())
  const alone = queryOf(operation).flatMap(({ name: parameter, schema }) => {
    const [field = ''] = parameter.split('.')
    const values = [known.get(field.toLowerCase()), ...anything(schema)]
    return values.flatMap((value) => (value === undefined ? [] : [{ [parameter]: value }]))
  })
  const { productID: ProductID } = beta
  const takesProduct = queryOf(operation).some(({ name: one }) => one === 'ProductID')
  return [{}, ...alone, ...(takesProduct ? alone.map((one) => ({ ProductID, ...one })) : [])]
}

/** Values that most records match, with one operator or another. */
function anything({ type, format, items, enum: choices }: Schema): unknown[] {
  if (items) return anything(items)
  if (choices) return choices
  if (type === 'integer') return [1, 2_000_000_000]
  if (type === 'boolean') return [true, false]
  if (format === 'date') return ['2000-01-01', '2100-01-01']
  return format === 'date-time' ? ['2000-01-01T00:00:00Z', '2100-01-01T00:00:00Z'] : ['a', 'Alpha']
}

describe('Who may not call it is refused, writes nothing, and who may is served', () => {
  for (const name of golden.keys())
    it(name, async () => {
      const request = await requests[name]![0]!(alpha, namesOf('native'))
      const [others, right] = [await withoutPermission(name), await rightful(name)]
      const machine = await machineFor(name)
      const before = await state.look()
      await refuseStrangers(name, request)
      for (const user of others) refused(await call(user, name, request), 403, 'permission_missing')
      if (machine) refused(await call(machine[0], name, request), 403, machine[1])
      await refuseHalf(name, request)
      assert.deepEqual(await state.changedSince(before), [])
      succeeded(name, await call(right, name, request))
    })
})

async function refuseStrangers(name: string, request: Request) {
  if (accessOf(name) === 'public') return
  for (const [who, token] of strangers) {
    const reply = await call(clientOf(service.url, token), name, request)
    assert.equal(reply.status, 401, `${who}: ${reply.text}`)
    refused(reply, 401)
  }
}

/** An API key that lacks only this permission, of a user who lacks none; and its refusal's code. */
async function machineFor(name: string): Promise<[Client, string] | undefined> {
  const access = accessOf(name)
  if (peopleOnly.includes(name)) return [await keyWith(permissions), 'people_only']
  if (!access.includes('.')) return undefined
  return [await keyWith(permissions.filter((one) => one !== access)), 'permission_missing']
}

const keys = new Map<string, Promise<Client>>()
function keyWith(given: readonly string[]): Promise<Client> {
  const name = JSON.stringify(given)
  const key = keys.get(name) ?? newKey(service.admin, { permissions: given })
  keys.set(name, key)
  return key
}

async function refuseHalf(name: string, request: Request) {
  if (accessOf(name) === 'public' || whileEnrolling.includes(name)) return
  // Public ones look for themselves, and find no permission.
  const code = golden.get(name) === 'public' ? 'permission_missing' : 'second_factor_required'
  refused(await call(half, name, request), 403, code)
}

/** Users of all products without this permission: one with none, one with the rest, one reader. */
async function withoutPermission(name: string): Promise<Client[]> {
  const access = accessOf(name)
  if (!access.includes('.')) return []
  const rest = permissions.filter((one) => one !== access)
  const readers = permissions.filter((one) => one.endsWith('.Read') && one !== access)
  return Promise.all([[], rest, readers].map((given) => userWith({ permissions: given })))
}

/** A user with only the needed permissions, for the world's product only. */
async function rightful(name: string): Promise<Client> {
  const access = accessOf(name)
  if (access === 'public') return service.anyone
  const needed = access === 'signed-in' ? [] : [...new Set([access, ...alsoNeeded(name)])]
  const productIDs = forAllProducts.includes(name) ? null : [alpha.productID]
  const rights = { permissions: needed, productIDs }
  return access === 'signed-in' ? service.userWith(rights) : userWith(rights)
}

type Place = { path: (string | number)[]; value: string | number; theirs: string | number }

/** The places where two requests name different records. */
function* differences(mine: unknown, theirs: unknown, path: Place['path'] = []): Generator<Place> {
  if (typeof mine === 'object' && mine !== null) {
    for (const [key, inner] of Object.entries(mine))
      yield* differences(inner, (theirs as Record<string, unknown>)[key], [...path, key])
    return
  }
  if (mine === theirs || !isName(path) || isNew(path, theirs)) return
  yield { path, value: mine as string, theirs: theirs as string }
}

/** The last field name in a path; for an item of a list, the name of the list. */
const fieldOf = (path: Place['path']) => path.findLast((key) => !/^\d+$/.test(String(key)))
const isName = (path: Place['path']) =>
  /(IDs?|Id|Code|Number|Party|username)$/i.test(String(fieldOf(path)))
/** Whether a value names the record that the request creates, so that it must not be in use. */
const isNew = (path: Place['path'], value: unknown) =>
  /-new-/.test(String(value)) ||
  (path.includes('accounts') && fieldOf(path) === 'externalAccountId')
/** Whether a place has an external id in a list of an owner: an unused one makes a new record. */
const isTaken = ({ path }: Place) =>
  /^external/.test(String(fieldOf(path))) && owned.some((list) => path.includes(list))
const owned = ['addresses', 'communications', 'paymentDetails']

function changed(value: unknown, [key, ...rest]: Place['path'], to: unknown): unknown {
  if (key === undefined) return to
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string,
    unknown
  >
  copy[key] = changed(copy[key], rest, to)
  return copy
}

const absent = (like: unknown) => (typeof like === 'number' ? 1_999_999_999 : 'no such thing')

/** The text of an answer, with the value that was asked about replaced. */
const without = ({ status, text }: Reply, value: unknown) => {
  const name = JSON.stringify(String(value)).slice(1, -1)
  const escaped = name.replace(/[^\w]/g, '\\$&')
  const whole = new RegExp(`(?<!\\w)${escaped}(?!\\w)`, 'g')
  // The feed's cursor tells how far the feed is read, whatever was asked for.
  const still = text.replace(/"cursor":"[^"]*"/, '"cursor":"#"')
  return `${status} ${still.slice(0, 600).replaceAll(whole, '#')}`
}

/** Asserts that a record of another product gets the same answer as one that does not exist. */
async function refuseForeign(stranger: Client, name: string, request: Request, place: Place) {
  const ask = (value: unknown) =>
    call(stranger, name, changed(request, place.path, value) as Request)
  const foreign = await ask(place.theirs)
  if (isTaken(place)) return refused(foreign, 409, 'duplicate')
  const nobodys = await ask(absent(place.theirs))
  const what = `${name} ${JSON.stringify(request)} with ${place.path.join('.')} ${place.theirs}`
  assert.equal(without(foreign, place.theirs), without(nobodys, absent(place.theirs)), what)
  if (foreign.status === 200) assert.deepEqual(foreign.data, [], what)
  else assert.ok([400, 404].includes(foreign.status), `${what}: ${foreign.text}`)
}

describe('A user of another product gets the answers that there would be without this one', () => {
  for (const [name, builders] of Object.entries(requests)) {
    if (!accessOf(name).includes('.')) continue
    for (const [i, builder] of builders.entries())
      it(`${name} (${i + 1})`, async () => {
        for (const form of forms) if (await crossProducts(name, builder, form, i)) break
      })
  }
})

/** The operations that were called with a record of another product. */
const named = new Set<string>()

/** Calls an operation across products; returns whether further forms would change nothing. */
async function crossProducts(
  name: string,
  builder: Builder,
  form: (typeof forms)[number],
  i: number,
) {
  const stranger = await userWith({ permissions, productIDs: [beta.productID] })
  const names = namesOf(form)
  const mine = await builder(beta, names)
  const theirs = await (ofOthers[name]?.[i] ?? builder)(alpha, names)
  // Beside the native id of a record its external one is a new name for it.
  const places = [...differences(mine, theirs)].filter(
    ({ path }) => form !== 'native' || !/^external/i.test(String(fieldOf(path))),
  )
  const before = await state.look()
  if (places.length > 0) named.add(name)
  for (const place of places) await refuseForeign(stranger, name, mine, place)
  if (places.length > 0) await refuseWhole(stranger, name, theirs)
  assert.deepEqual(await state.changedSince(before), [], name)
  if (!forAllProducts.includes(name)) succeeded(name, await call(stranger, name, mine))
  return names.isLast()
}

async function refuseWhole(stranger: Client, name: string, theirs: Request) {
  const reply = await call(stranger, name, theirs)
  if (reply.status === 200) assert.deepEqual(reply.data, [], `${name} ${JSON.stringify(theirs)}`)
  else assert.ok([400, 404].includes(reply.status), `${name}: ${reply.text}`)
}

it('The walk asks for records of another product in every operation that names any', () => {
  const never = [...golden.keys()].filter(
    (name) => accessOf(name).includes('.') && !named.has(name),
  )
  const none = [...ofNone, 'GET /Import/Template']
  const rates = ['POST', 'PUT', 'DELETE'].map((method) => `${method} /WithholdingRate`)
  assert.deepEqual(never.sort(), ['POST /Product', 'POST /Person', ...rates, ...none].sort())
})
