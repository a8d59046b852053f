import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { all, type Fund, newFund, only, poster } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { pagesOf, placesOf, structureOf } from '../support/readers.ts'
import { fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let fund: Fund
let stopWorker: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }
const post = poster(
  () => service.admin,
  () => ({ productID: fund.productID, transactionDate: '2026-02-22' }),
)

type Row = Record<string, string | number | null>
type Made = {
  about: Record<string, string>
  rows: Row[]
  totals: Row | null
  classTotals: Row[]
  chart: { date: string; value: number }[]
}

const made = async (body: object): Promise<Made> => {
  const report = { productID: fund.productID, format: 'json', ...body }
  return JSON.parse((await fileOf(service.admin, report)).toString())
}
const shown = (rows: Row[], ...keys: string[]) => rows.map((row) => keys.map((key) => row[key]))
const date = '2026-03-31'

before(async () => {
  service = await startService(env)
  stopWorker = await workFor(service, env)
  const investments = [{ securityCode: 'GRA' }, { securityCode: 'GRB' }]
  fund = await newFund(service, { accounts: 3, investments, price: 2 })
  const [a, b] = fund.investmentIDs as [number, number]
  const units = [
    [a, 0, 100],
    [a, 1, 300],
    [a, 2, 600],
    [b, 0, 40],
  ] as const
  const postings = units.map(([investmentID, account, quantity]) => ({
    investmentID,
    accountID: fund.accounts[account]!.accountID,
    quantity,
  }))
  all(await post('Allotment', postings))
})
after(async () => {
  await stopWorker()
  await service.stop()
})

describe('A report on several classes', () => {
  it('ranks the holders of each by themselves, with their account numbers', async () => {
    const { rows, totals, classTotals } = await made({ reportTypeID: 5, date, top: 2 })
    const [first, second, third] = fund.accounts.map(({ accountNumber }) => accountNumber)
    assert.deepEqual(shown(rows, 'class', 'rank', 'accountNumbers', 'units', 'percent'), [
      ['GRA', 1, third, 600, 60],
      ['GRA', 2, second, 300, 30],
      ['GRB', 1, first, 40, 100],
    ])
    assert.deepEqual(shown(classTotals, 'class', 'units', 'percent'), [
      ['GRA', 900, 90],
      ['GRB', 40, 100],
    ])
    assert.equal(totals, null, 'units of two classes are not added up')
  })

  it('keeps classes apart that have the same name, or none', async () => {
    for (const name of ['Units', null]) {
      const unnamed = { externalInvestmentId: null, securityCode: null, name }
      const own = await newFund(service, { investments: [unnamed, unnamed] })
      const [a, b] = own.investmentIDs as [number, number]
      const { productID, accountID } = own
      const items = [
        { productID, accountID, investmentID: a, quantity: 100 },
        { productID, accountID, investmentID: b, quantity: 40 },
      ]
      all(await post('Allotment', items))
      const shownAs = [name ?? String(a), name ?? String(b)]
      for (const reportTypeID of [1, 2, 5, 6]) {
        const { totals, classTotals } = await made({ reportTypeID, productID, date })
        assert.equal(totals?.units ?? null, null)
        const named = [
          [shownAs[0], 100],
          [shownAs[1], 40],
        ]
        assert.deepEqual(shown(classTotals, 'class', 'units'), named)
        if (reportTypeID > 2) assert.deepEqual(shown(classTotals, 'percent'), [[100], [100]])
      }
      const period = { reportTypeID: 3, productID, fromDate: '2026-01-01', toDate: date }
      assert.equal((await made(period)).totals?.units ?? null, null)
    }
  })

  it('counts the holders of each in its own ranges', async () => {
    const { rows, classTotals } = await made({ reportTypeID: 6, date })
    assert.equal(rows.length, 10)
    assert.deepEqual(shown(classTotals, 'class', 'holders', 'units', 'percent'), [
      ['GRA', 3, 1000, 100],
      ['GRB', 1, 40, 100],
    ])
  })
})

describe('The register of members', () => {
  it('is in the order of surnames, with totals; who is no person stands under a name', async () => {
    const { productID, investmentID } = fund
    for (const [name, lastName] of [
      ['Zoe Adams', 'Adams'],
      ['Adam Young', 'Young'],
    ]) {
      const reply = await service.admin.post('/BizEntity', {
        name,
        bizEntityTypeID: 1,
        bizEntityStatusID: 1,
        accounts: [{ productID }],
        bizEntityParties: [{ isPrimaryContact: true, person: { firstName: 'x', lastName } }],
      })
      const { accountID } = only(reply).accounts[0]
      only(await post('Allotment', { accountID, investmentID, quantity: 5 }))
    }
    const register = await made({ reportTypeID: 1, date, securityCode: 'GRA' })
    assert.deepEqual(shown(register.rows, 'surname', 'name'), [
      ['Adams', 'Zoe Adams'],
      ['Investor 1', 'Investor 1'],
      ['Investor 2', 'Investor 2'],
      ['Investor 3', 'Investor 3'],
      ['Young', 'Adam Young'],
    ])
    assert.equal(register.totals!.units, 1010)
  })
})

describe('A statement', () => {
  it('begins its chart with the period and does not rise before the deposit', async () => {
    const period = { fromDate: '2026-01-01', toDate: '2026-06-30' }
    const { accountID } = fund.accounts[2]!
    const { chart, about } = await made({ reportTypeID: 7, accountID, ...period })
    assert.deepEqual(chart[0], { date: '2026-01-01', value: 0 })
    const rise = chart.findIndex(({ value }) => value > 0)
    assert.deepEqual(chart[rise], { date: '2026-02-22', value: 1200 })
    assert.ok(chart.slice(0, rise).every(({ value }) => value === 0))
    assert.match(about.Signs!, /minus/)
  })

  it('values what was left at nothing, also where there was never a price', async () => {
    const own = { accountID: fund.accounts[1]!.accountID, investmentID: await unpriced() }
    only(await post('Allotment', { ...own, quantity: 10, amount: 50 }))
    only(await post('Redemption', { ...own, quantity: 10, amount: 70 }))
    const of = { reportTypeID: 7, ...own, fromDate: '2026-01-01', toDate: date }
    const { rows, totals, chart } = await made(of)
    assert.deepEqual([rows.at(-1)!.value, totals!.value], [0, 0])
    assert.ok(chart.every(({ value }) => value === 0))
    const letter = { ...of, productID: fund.productID, format: 'pdf' }
    const text = (await pagesOf(await fileOf(service.admin, letter))).join(' ')
    assert.match(text, /Closing balance, value 0\.00 0\.0000/)
  })
})

const unpriced = async (): Promise<number> => {
  const { productID } = fund
  const made = await service.admin.post('/Investment', { productID, securityCode: 'NEW' })
  return only(made).investmentID
}

describe('A PDF', () => {
  it('is tagged, with a title and a language, and its table can be read out', async () => {
    const { productID } = fund
    const body = { reportTypeID: 5, productID, securityCode: 'GRA', date, top: 3, format: 'pdf' }
    const { title, language, tree } = await structureOf(await fileOf(service.admin, body))
    assert.deepEqual([title, language], ['Top 3 holders – Fund', 'en-AU'])
    assert.deepEqual(
      ['H1', 'Table', 'TR', 'TH', 'TD'].map((role) => tree.filter((one) => one === role).length),
      [1, 1, 5, 6, 24],
      'a heading, and a table of a head, three rows and a total',
    )
  })

  it('names each class in full in its total line, beside columns that have no sum', async () => {
    const names = ['WHOLESALE-HEDGED', 'RETAIL-UNHEDGED']
    const investments = names.map((securityCode) => ({ securityCode }))
    const own = await newFund(service, { accounts: 1, investments, price: 2 })
    const { accountID, productID } = own
    const held = own.investmentIDs.map((investmentID) => ({
      ...{ productID, investmentID, accountID },
      quantity: 9,
    }))
    all(await post('Allotment', held))
    for (const reportTypeID of [5, 6]) {
      const file = await fileOf(service.admin, { reportTypeID, productID, date, format: 'pdf' })
      const [text] = await pagesOf(file)
      for (const name of names) assert.ok(text!.includes(`Total ${name}`), text)
      const inLine = (await placesOf(file)).filter(({ y }, _, places) =>
        places.some((one) => one.y === y && one.text === `Total ${names[0]}`),
      )
      for (const [i, { x, width, text: words }] of inLine.slice(0, -1).entries())
        assert.ok(x + width <= inLine[i + 1]!.x, `${words} reaches into the next column`)
    }
  })
})
