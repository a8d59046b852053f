import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { entityOf, unique } from '../support/investors.ts'
import { all, newFund, newPrice, only, poster } from '../support/ledger.ts'
import { momentOf } from '../support/moment.ts'
import { temporaryFolder } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import type { Data } from '../support/world.ts'

/**
 * Reads of the past: answers are kept at random moments of a random history, and asked for again at
 * its end with KnownAt. Not a digit of them may have changed.
 */
const seed = Number(process.env.REGISTRY_KNOWN_SEED ?? Math.floor(Math.random() * 2 ** 31))
const steps = Number(process.env.REGISTRY_KNOWN_STEPS ?? 120)

let state = seed
/** A random whole number below `most`, from the seed. */
function below(most: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return (state >> 8) % most
}
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
/** A random record of an answer; an empty object if the answer has none. */
const some = (records: Data[]): Data => pick(records) ?? {}

const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
let stopWorker: () => Promise<void>
before(async () => {
  service = await startService(folder)
  stopWorker = await workFor(service, folder)
})
after(async () => {
  await stopWorker()
  await service.stop()
})
const post = poster(() => service.admin)
const { stringify } = JSON

type Entity = { bizEntityID: number; accounts: { accountID: number }[] }

async function newRegister() {
  const fund = await newFund(service, { accounts: 0, investments: [{}, {}] })
  const { productID, investmentIDs } = fund
  const entities: Entity[] = []
  for (const name of ['Ann', 'Bo', 'Cy'])
    entities.push(only(await service.admin.post('/BizEntity', entityOf(productID, { name }))))
  const accountIDs = entities.map(({ accounts }) => accounts[0]!.accountID)
  return { productID, investmentIDs, entities, accountIDs }
}
type Register = Awaited<ReturnType<typeof newRegister>>

const day = () => `2025-0${1 + below(9)}-${10 + below(18)}`

/** The changes that may happen to a register; many are refused, which does not matter here. */
function happenings(register: Register): (() => Promise<unknown>)[] {
  const { productID, investmentIDs, accountIDs } = register
  const { admin } = service
  const any = () => ({ accountID: pick(accountIDs), investmentID: pick(investmentIDs) })
  const on = () => ({ transactionDate: day() })
  const transactions = async () => (await admin.get(`/BizTransaction?ProductID=${productID}`)).data
  const prices = async () =>
    (await admin.get(`/Investment/Price?InvestmentID=${pick(investmentIDs)}`)).data
  const distributions = async () => (await admin.get(`/Distribution?ProductID=${productID}`)).data
  const stage = async (name: string, more: object = {}) => {
    const { corporateActionID } = some(await distributions())
    return admin.post(`/Distribution/${name}`, { productID, corporateActionID, ...more })
  }
  return [
    () => post('Deposit', { ...any(), ...on(), amount: 1 + below(500) }),
    () => post('Allotment', { ...any(), ...on(), quantity: 1 + below(500) }),
    () => post('Redemption', { ...any(), ...on(), quantity: 1 + below(200) }),
    () => post('Adjustment', { ...any(), ...on(), quantity: below(100) - 50 }),
    () => {
      const [fromAccountID, toAccountID] = [pick(accountIDs), pick(accountIDs)]
      const costBasis = pick(['Market', 'Carry'])
      const { investmentID } = any()
      const moved = { fromAccountID, toAccountID, investmentID, costBasis }
      return post('Transfer', { ...moved, ...on(), quantity: 1 + below(100) })
    },
    () => {
      const [fromInvestmentID, toInvestmentID] = investmentIDs
      const how = { conversionMethod: 'Factor', conversionFactor: 2 }
      const classes = { fromInvestmentID, toInvestmentID, accountID: pick(accountIDs) }
      return post('Conversion', { ...classes, ...how, ...on(), quantity: 1 + below(50) })
    },
    async () => {
      const { bizTransactionID } = some(await transactions())
      return admin.put('/BizTransaction/Rollback', { bizTransactionID })
    },
    async () => {
      const { bizTransactionID, quantity } = some(await transactions())
      const sign = Math.sign(quantity) || 1
      const change = pick([{ quantity: sign * (1 + below(300)) }, on(), { comment: unique('c') }])
      return admin.put('/BizTransaction', { bizTransactionID, ...change })
    },
    () =>
      admin.post('/Investment/Price', {
        ...{ investmentID: pick(investmentIDs), priceDate: day(), price: 1 + below(300) / 100 },
      }),
    async () => {
      const { investmentPriceID } = some(await prices())
      return admin.put('/Investment/Price', { investmentPriceID, price: 1 + below(300) / 100 })
    },
    async () => {
      const { investmentPriceID } = some(await prices())
      return admin.delete(`/Investment/Price?InvestmentPriceID=${investmentPriceID}`)
    },
    async () => {
      const { bizEntityID } = pick(register.entities)
      const entity = only(await admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
      const addresses = [{ addressLine: unique('street'), suburb: 'Sydney' }]
      return admin.put('/BizEntity', { ...entity, name: unique('name'), addresses })
    },
    async () => {
      const { data } = await admin.get(`/Investment?InvestmentID=${pick(investmentIDs)}`)
      return admin.put('/Investment', { ...data[0], name: unique('class') })
    },
    () => admin.post('/Hold', { ...any(), quantity: 1 + below(100), reason: 'x' }),
    async () => {
      const { holdID } = some((await admin.get(`/Hold?ProductID=${productID}`)).data)
      return below(2)
        ? admin.delete(`/Hold?HoldID=${holdID}`)
        : admin.put('/Hold', { holdID, quantity: 1 + below(100) })
    },
    () =>
      admin.post('/Distribution', {
        ...{ productID, investmentID: investmentIDs[0], recordDate: '2025-06-30' },
        ...{ paymentDate: '2025-07-15', distributionAmountPerUnit: 0.07, drpIndicatorID: 2 },
        ...{ drpPrice: 1.3, drpInvestmentID: investmentIDs[0], name: unique('d') },
        taxComponents: [{ taxComponentName: 'CapitalGains', percentage: 100 }],
      }),
    () => stage('Declare', { confirmSecond: true }),
    () => stage('Payment'),
    () => stage('DrpAllotment'),
    () => stage('Reverse', { fromStatusID: 2 + below(3), reason: 'Again' }),
  ]
}

/** The reads about a register, for now or with KnownAt. */
const questions = ({ productID, accountIDs, investmentIDs }: Register) => [
  `/BizEntity/Account/Holdings?ProductID=${productID}`,
  `/BizEntity/Account/Holdings?ProductID=${productID}&Date=2025-05-15`,
  `/BizTransaction?ProductID=${productID}&ShowClosing=true&PageSize=1000`,
  `/BizTransaction?ProductID=${productID}&Status=RolledBack&AccountID.equal=${accountIDs[0]}`,
  '/BizEntity/Account/Holdings/Explain' +
    `?AccountID=${accountIDs[0]}&InvestmentID=${investmentIDs[0]}&PageSize=1000`,
]

const told = async (question: string, knownAt?: string) => {
  const reply = await service.admin.get(
    knownAt ? `${question}&KnownAt=${encodeURIComponent(knownAt)}` : question,
  )
  assert.equal(reply.status, 200, `${question} ${reply.text}`)
  return { text: stringify(reply.data), count: reply.recordCount }
}

describe('What the register knew', () => {
  it(`is told again as it was told then (REGISTRY_KNOWN_SEED=${seed})`, async () => {
    const register = await newRegister()
    const happen = happenings(register)
    const taken: { moment: string; question: string; text: string }[] = []
    let done = 0
    for (let step = 0; step < steps; step++) {
      const reply = (await pick(happen)()) as { status: number; text: string }
      assert.ok(reply.status < 500, reply.text)
      if (reply.status === 200) done++
      if (below(8) > 0) continue
      const moment = await momentOf(service.connection)
      for (const question of questions(register))
        taken.push({ moment, question, text: (await told(question)).text })
    }
    assert.ok(done > steps / 5 && taken.length > 0, `${done} of ${steps} were done`)
    for (const { moment, question, text } of taken)
      assert.equal((await told(question, moment)).text, text, `${question} as known ${moment}`)
  })

  it('is refused of the future, and is empty before there was anything', async () => {
    const { productID } = await newRegister()
    const path = `/BizEntity/Account/Holdings?ProductID=${productID}&KnownAt=`
    refused(await service.admin.get(`${path}2999-01-01T00:00:00Z`), 400, 'out_of_range')
    refused(await service.admin.get(`${path}yesterday`), 400)
    assert.deepEqual(all(await service.admin.get(`${path}2001-01-01T00:00:00Z`)), [])
  })

  it('has every column of every table that it stands for', async () => {
    const missing = await rowsOf(
      service.connection,
      `select v.table_schema || '.' || v.table_name || '.' || c.column_name as name
      from information_schema.tables v
      join information_schema.columns c on c.table_schema = 'public'
        and c.table_name = v.table_name
      where v.table_schema in ('known', 'named') and v.table_name <> 'hold'
        and not exists (select from information_schema.columns k
          where k.table_schema = v.table_schema and k.table_name = v.table_name
            and k.column_name = c.column_name and k.data_type = c.data_type)`,
    )
    assert.deepEqual(missing, [])
  })
})

describe('A report', () => {
  it('ordered again with the moment of the first is the same to the byte', async () => {
    const { productID, investmentIDs, entities, accountIDs } = await newRegister()
    const own = { accountID: accountIDs[0], investmentID: investmentIDs[0] }
    only(await post('Deposit', { ...own, amount: 100 }))
    const orders = [1, 2, 3, 5, 6, 7].map((reportTypeID) => ({
      ...{ reportTypeID, format: 'csv', productID, date: '2026-01-31' },
      ...(reportTypeID === 7 && { bizEntityID: entities[0]!.bizEntityID }),
    }))
    const first: { body: object; bytes: Buffer }[] = []
    for (const body of orders) {
      const bytes = await fileOf(service.admin, body)
      const [last] = all(await service.admin.get(`/Report?ProductID=${productID}&Order=desc`))
      first.push({ body: { ...body, knownAt: last.knownAt }, bytes })
    }
    only(await post('Deposit', { ...own, amount: 50, transactionDate: '2026-01-05' }))
    await newPrice(service, investmentIDs[0]!, '2026-01-20', 7)
    const entity = only(
      await service.admin.get(`/BizEntity?BizEntityID=${entities[0]!.bizEntityID}`),
    )
    only(await service.admin.put('/BizEntity', { ...entity, name: 'Anders' }))
    for (const { body, bytes } of first)
      assert.equal(
        (await fileOf(service.admin, body)).toString(),
        bytes.toString(),
        stringify(body),
      )
    const refusedOrder = { ...orders[0]!, knownAt: '2999-01-01T00:00:00Z' }
    refused(await service.admin.post('/Report', refusedOrder), 400, 'out_of_range')
  })

  it('of members shows the names and addresses of its day', async () => {
    const { productID, investmentIDs, entities, accountIDs } = await newRegister()
    const own = { accountID: accountIDs[0], investmentID: investmentIDs[0] }
    only(await post('Deposit', { ...own, amount: 100 }))
    const { bizEntityID } = entities[0]!
    const change = async (more: object) => {
      const entity = only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
      only(await service.admin.put('/BizEntity', { ...entity, ...more }))
    }
    await change({ name: 'Old Name', addresses: [{ addressLine: '1 Old Street' }] })
    await change({ name: 'New Name', addresses: [{ addressLine: '2 New Street' }] })
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    // As if all of it had happened long ago, the last change this morning.
    await rowsOf(
      service.connection,
      `update record_version set valid_to = case when image ->> 'name' = 'Old Name'
        or image ->> 'address_line' = '1 Old Street' then $2::timestamptz else $3 end
      where (table_name, record_id) in (values ('biz_entity', $1::int))
        or image ->> 'biz_entity_id' = $1::text`,
      [bizEntityID, daysAgo(1), daysAgo(400)],
    )
    await rowsOf(
      service.connection,
      `update address set created_date = now() - interval '1 day' where biz_entity_id = $1`,
      [bizEntityID],
    )
    await rowsOf(
      service.connection,
      `update record_version set image = image || '{"created_date": "2020-01-01"}'
      where table_name = 'address' and image ->> 'biz_entity_id' = $1::text`,
      [bizEntityID],
    )
    const register = { reportTypeID: 1, format: 'csv', productID, investmentID: investmentIDs[0] }
    const then = String(await fileOf(service.admin, { ...register, date: '2026-10-01' }))
    assert.match(then, /Old Name/)
    assert.match(then, /1 Old Street/)
    assert.doesNotMatch(then, /New/)
    const today = String(await fileOf(service.admin, register))
    assert.match(today, /New Name.*2 New Street/)
    assert.doesNotMatch(today, /Old/)
  })
})
