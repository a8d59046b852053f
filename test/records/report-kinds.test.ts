import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Fund, newFund, newPrice } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { pagesOf, sheetsOf } from '../support/readers.ts'
import { refused } from '../support/refused.ts'
import { cellsOf, fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let fund: Fund
let corporateActionID: number
let stopWorker: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }

const names = ['Αθηνά Παπαδοπούλου', 'Дмитрий Шостакович', 'Nguyễn Thị Ánh & Sons', '=cmd()']

before(async () => {
  service = await startService(env)
  admin = service.admin
  stopWorker = await workFor(service, env)
  fund = await newFund(service, {
    accounts: 60,
    investments: [
      { securityCode: 'GRA', name: 'Growth A' },
      { securityCode: 'GRB', name: 'Growth B', unitDecimals: 2 },
    ],
    price: null,
  })
  await prepare()
})
after(async () => {
  await stopWorker()
  await service.stop()
})

const ok = (reply: { status: number; text: string }) => assert.equal(reply.status, 200, reply.text)

/** Makes sixty holders with 100, 400, 900 … units, changing prices, and a distribution with DRP. */
async function prepare() {
  const { productID, investmentIDs, accounts } = fund
  const [a, b] = investmentIDs as [number, number]
  await newPrice(service, a, '2026-01-01', '1.25')
  await newPrice(service, a, '2026-03-31', '1.3155')
  await newPrice(service, a, '2026-06-30', '1.2801')
  for (const [i, name] of names.entries()) {
    const { bizEntityID } = accounts[i]!
    await rowsOf(service.connection, 'update biz_entity set name = $1 where biz_entity_id = $2', [
      name,
      bizEntityID,
    ])
  }
  const [first, second] = accounts as [(typeof accounts)[0], (typeof accounts)[0]]
  for (const bizEntityID of [first.bizEntityID, second.bizEntityID])
    ok(
      await admin.post('/Address', {
        bizEntityID,
        addressTypeID: 8,
        aboveAddressLine: 'Level 5',
        addressLine: '1 Long and Winding Road of Many Words',
        suburb: 'Sydney',
        stateCode: 'NSW',
        postcode: '2000',
        countryCode: 'AU',
      }),
    )
  ok(
    await admin.post('/PaymentDetail', {
      bizEntityID: first.bizEntityID,
      paymentTypeID: 1,
      bsb: '062-000',
      accountNumber: '12345678',
      accountName: 'A',
      isForDistribution: true,
      isDefault: true,
    }),
  )
  const common = { productID, investmentID: a, transactionDate: '2026-01-15' }
  ok(
    await admin.post(
      '/BizTransaction/Allotment',
      accounts.map(({ accountID }, i) => ({
        ...common,
        accountID,
        quantity: 100 * (i + 1) ** 2,
      })),
    ),
  )
  const own = { productID, accountID: first.accountID }
  const later = { ...own, investmentID: b, transactionDate: '2026-02-20' }
  ok(await admin.post('/BizTransaction/Deposit', { ...later, amount: 500, quantity: 250.25 }))
  // Left, and came back: the date of entry is the second one.
  const left = { ...own, investmentID: a, quantity: 100 }
  ok(await admin.post('/BizTransaction/Redemption', { ...left, transactionDate: '2026-02-01' }))
  ok(await admin.post('/BizTransaction/Allotment', { ...left, transactionDate: '2026-03-05' }))
  await rowsOf(
    service.connection,
    'update account set drp_type_id = 2 where account_id = any($1::int[])',
    [accounts.slice(50).map(({ accountID }) => accountID)],
  )
  const configured = await admin.post('/Distribution', {
    productID,
    investmentID: a,
    name: 'March quarter',
    recordDate: '2026-03-31',
    paymentDate: '2026-04-15',
    distributionAmountPerUnit: 0.0325,
    drpIndicatorID: 2,
    drpInvestmentID: a,
    drpPrice: 1.3,
    drpAllotmentDate: '2026-04-20',
    taxComponents: [
      { taxComponentName: 'AustralianFrankedDividends', percentage: 60 },
      { taxComponentName: 'CapitalGains', percentage: 40 },
    ],
  })
  ok(configured)
  corporateActionID = configured.data.corporateActionID
  refused(
    await admin.post('/Report', { reportTypeID: 4, productID, corporateActionID }),
    409,
    'not_declared',
  )
  for (const stage of ['Declare', 'Payment', 'DrpAllotment'])
    ok(await admin.post(`/Distribution/${stage}`, { productID, corporateActionID }))
}

type Made = {
  title: string
  about: Record<string, string>
  columns: { key: string; title: string; kind: string }[]
  rows: Record<string, string | number | null>[]
  totals: Record<string, string | number | null> | null
  classTotals?: Record<string, string | number | null>[]
  rowCount: number
  chart?: { date: string; value: number }[]
}

/** Makes a report in all four formats, reads them with other libraries, and compares the cells. */
async function everywhere(body: object): Promise<Made> {
  const about = { productID: fund.productID, ...body }
  const json = await fileOf(admin, { ...about, format: 'json' })
  const made = JSON.parse(json.toString()) as Made
  const digits = JSON.parse(
    json.toString().replaceAll(/([:,[])(-?\d+(\.\d+)?)(?=[,}\]])/g, '$1"$2"'),
  ) as Made
  assert.equal(made.rows.length, made.rowCount)
  const sums = sumsOf(digits)
  const expected = [...digits.rows, ...sums.map(({ row }) => row)].map((row, i) =>
    made.columns.map(({ key, kind }, column) => {
      if (i >= digits.rows.length && column === 0) return sums[i - digits.rows.length]!.label
      const value = row[key]
      if (value === null) return ''
      return kind === 'text' && /^[=+@-]/.test(String(value)) ? `'${value}` : String(value)
    }),
  )
  const [head, ...csv] = cellsOf(await fileOf(admin, { ...about, format: 'csv' }))
  assert.deepEqual(
    head,
    made.columns.map(({ title }) => title),
  )
  assert.deepEqual(csv, expected)
  await compareXlsx(await fileOf(admin, { ...about, format: 'xlsx' }), made, expected)
  const pdf = await fileOf(admin, { ...about, format: 'pdf' })
  if (process.env.REPORT_SAMPLES)
    writeFileSync(
      `${process.env.REPORT_SAMPLES}/${made.title.replaceAll(' ', '-')}-${made.rowCount}.pdf`,
      pdf,
    )
  await comparePdf(pdf, made, digits)
  return made
}

/** The lines of totals under the rows: one for each class if there are several, and one for all. */
const sumsOf = ({ classTotals = [], totals }: Made) => [
  ...classTotals.map((row) => ({ label: `Total ${row.class}`, row })),
  ...(totals ? [{ label: 'Total', row: totals }] : []),
]

async function compareXlsx(file: Buffer, made: Made, expected: string[][]) {
  const [sheet, about] = await sheetsOf(file)
  assert.deepEqual([sheet!.name, about!.name], ['Report', 'About'])
  assert.deepEqual(about!.rows[0], ['Report', made.title])
  const [, ...rows] = sheet!.rows
  assert.equal(rows.length, expected.length)
  for (const [i, row] of rows.entries())
    for (const [j, { kind }] of made.columns.entries()) {
      const [value, wanted] = [row[j] ?? '', expected[i]![j]!]
      if (wanted === '' || wanted.startsWith('Total')) assert.equal(value, wanted)
      else if (kind === 'number') assert.deepEqual(value, { digits: wanted })
      else if (kind === 'date') assert.equal(JSON.stringify(value).slice(1, 11), wanted)
      else assert.equal(value, wanted)
    }
}

async function comparePdf(file: Buffer, made: Made, digits: Made) {
  const pages = await pagesOf(file)
  // A statement is a letter, with words of its own about what it is.
  const isLetter = made.title === 'Holding statement'
  for (const [i, page] of pages.entries()) {
    assert.ok(page.includes(`Page ${i + 1} of ${pages.length}`), page)
    if (isLetter) continue
    for (const { title } of made.columns) assert.ok(page.includes(title.split(' ')[0]!))
  }
  assert.ok(pages[0]!.includes(made.title))
  for (const value of isLetter ? [] : Object.values(made.about))
    assert.ok(pages[0]!.includes(value), value)
  const all = pages.join('\n')
  const figures = made.columns.filter(({ kind }) => kind === 'number')
  for (const row of [...digits.rows, ...sumsOf(digits).map(({ row }) => row)])
    for (const { key } of figures) {
      const value = row[key]
      if (isLetter && Number(value) === 0) continue
      if (value !== null && value !== undefined) assert.ok(all.includes(grouped(String(value))))
    }
}
const grouped = (digits: string) => {
  const [whole = '', fraction] = digits.split('.')
  const parts = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? parts : `${parts}.${fraction}`
}

describe('A report', () => {
  it('1: lists the members with address, date of entry, class and units', async () => {
    const made = await everywhere({ reportTypeID: 1, date: '2026-03-31' })
    assert.equal(made.rowCount, 61)
    const own = made.rows.filter(({ name }) => name === names[0])
    assert.deepEqual(
      own.map(({ class: of, units, dateEntered }) => [of, units, dateEntered]),
      [
        ['GRA', 100, '2026-03-05'],
        ['GRB', 250.25, '2026-02-20'],
      ],
    )
    assert.match(String(own[0]!.address), /^Level 5, 1 Long .* Words, Sydney NSW 2000, AU$/)
    assert.equal(made.totals, null, 'units of two classes are not added up')
    assert.deepEqual(
      made.classTotals!.map(({ class: of, units }) => [of, units]),
      [
        ['GRA', 7_381_000],
        ['GRB', 250.25],
      ],
    )
    assert.equal(made.about['As at'], '31 March 2026')
    const one = await everywhere({ reportTypeID: 1, date: '2026-02-15', securityCode: 'GRA' })
    assert.equal(one.rowCount, 59, 'who had left by then is not in it')
    assert.equal(one.totals!.units, 7_380_900)
  })

  it('2: values the holdings as at a day', async () => {
    const made = await everywhere({ reportTypeID: 2, date: '2026-03-31' })
    const second = made.rows.find(({ name }) => name === names[1])!
    assert.deepEqual(
      [second.units, second.price, second.priceDate, second.value, second.currency],
      [400, 1.3155, '2026-03-31', 526.2, 'AUD'],
    )
    const unpriced = made.rows.find(({ class: of }) => of === 'GRB')!
    assert.deepEqual([unpriced.price, unpriced.value, unpriced.gain], [null, 500, null])
    const { data } = await admin.get(
      `/BizEntity/Account/Holdings?ProductID=${fund.productID}&Date=2026-03-31`,
    )
    const value = data.reduce(
      (sum: number, { marketValue }: { marketValue: number }) =>
        sum + Math.round(marketValue * 100),
      0,
    )
    assert.equal(Math.round(Number(made.totals!.value) * 100), value)
  })

  it('3: lists the transactions of a period, without what was rolled back', async () => {
    const period = { fromDate: '2026-02-01', toDate: '2026-03-31' }
    const made = await everywhere({ reportTypeID: 3, ...period })
    assert.deepEqual(
      made.rows.map(({ date, type, units }) => [date, type, units]),
      [
        ['2026-02-01', 'Redemption', -100],
        ['2026-02-20', 'Deposit', 250.25],
        ['2026-03-05', 'Allotment', 100],
      ],
    )
    const [redemption] = made.rows
    ok(
      await admin.put('/BizTransaction/Rollback', {
        bizTransactionID: Number(made.rows[1]!.transactionID),
      }),
    )
    const after = await everywhere({ reportTypeID: 3, ...period })
    assert.equal(after.rowCount, 2)
    assert.deepEqual(after.rows[0], redemption)
  })

  it('4: shows a distribution by account and component, bank accounts masked', async () => {
    const made = await everywhere({ reportTypeID: 4, corporateActionID })
    assert.equal(made.rowCount, 60)
    const sum = (key: string) =>
      made.rows.reduce((total, row) => total + Math.round(Number(row[key]) * 100), 0)
    for (const key of ['gross', 'component1', 'component2', 'drp', 'cash', 'residual'])
      assert.equal(Math.round(Number(made.totals![key]) * 100), sum(key), key)
    assert.equal(sum('gross'), sum('component1') + sum('component2'))
    assert.equal(sum('gross'), sum('drp') + sum('cash'))
    const { data } = await admin.get(
      `/Distribution/Account?ProductID=${fund.productID}&CorporateActionID=${corporateActionID}`,
    )
    for (const account of data) {
      const row = made.rows.find(({ accountNumber }) => accountNumber === account.accountNumber)!
      const { grossAmount, cashAmount, drpAmount, drpUnits } = account
      assert.deepEqual(
        [row.gross, row.cash, row.drp, row.drpUnits],
        [grossAmount, cashAmount, drpAmount, drpUnits ?? 0],
      )
    }
    const paid = made.rows.find(({ name }) => name === names[0])!
    assert.equal(paid.paidTo, '062-000 *****678')
  })

  it('5: ranks the largest holders, exactly so many, with their share of all', async () => {
    const made = await everywhere({ reportTypeID: 5, securityCode: 'GRA', date: '2026-03-31' })
    assert.equal(made.rowCount, 20)
    assert.deepEqual(
      made.rows.slice(0, 2).map(({ rank, units, percent }) => [rank, units, percent]),
      [
        [1, 360_000, 4.88],
        [2, 348_100, 4.72],
      ],
    )
    const few = await everywhere({ reportTypeID: 5, securityCode: 'GRA', top: 3 })
    assert.equal(few.rowCount, 3)
  })

  it('6: spreads the holders over the ranges, empty ones included', async () => {
    const made = await everywhere({ reportTypeID: 6, securityCode: 'GRA', date: '2026-03-31' })
    assert.deepEqual(
      made.rows.map(({ range, holders }) => [range, holders]),
      [
        ['1 – 1,000', 3],
        ['1,001 – 5,000', 4],
        ['5,001 – 10,000', 3],
        ['10,001 – 100,000', 21],
        ['100,001 and over', 29],
      ],
    )
    const { holders, units, percent } = made.totals!
    assert.deepEqual([holders, units, percent], [60, 7_381_000, 100])
    const none = await everywhere({ reportTypeID: 6, securityCode: 'GRA', date: '2020-01-01' })
    assert.deepEqual([none.rowCount, none.totals!.holders], [5, 0])
  })

  it('7: states what one investor had, did and has, with a chart of its value', async () => {
    const { bizEntityID } = fund.accounts[59]!
    const period = { fromDate: '2026-02-01', toDate: '2026-06-30' }
    const made = await everywhere({ reportTypeID: 7, bizEntityID, ...period })
    const closing = 360_000 + 9000
    assert.deepEqual(
      made.rows.map(({ date, description, units, balance }) => [date, description, units, balance]),
      [
        ['2026-02-01', 'Opening balance', null, 360_000],
        ['2026-04-20', 'DRP allotment', 9000, closing],
        ['2026-06-30', 'Closing balance', null, closing],
      ],
    )
    const value = Math.round(closing * 1.2801 * 100) / 100
    assert.equal(made.rows.at(-1)!.value, value)
    assert.equal(made.totals!.value, value)
    const { chart = [] } = made
    assert.equal(chart[0]!.date, '2026-02-01')
    assert.deepEqual(chart.at(-1), { date: '2026-06-30', value })
    assert.equal(chart[0]!.value, 450_000)
    const whole = await everywhere({ reportTypeID: 7, accountID: fund.accounts[0]!.accountID })
    assert.equal(whole.rows[0]!.balance, 0, 'from the first day on, nothing was there before')
  })

  it('with nothing in it is a report, too', async () => {
    for (const reportTypeID of [1, 2, 3, 5]) {
      const none = { date: '2001-01-01', toDate: '2001-01-01' }
      const made = await everywhere({ reportTypeID, ...none })
      assert.deepEqual([made.rowCount, made.totals], [0, null])
    }
  })

  it('of many classes and names survives in letters that are not Latin', async () => {
    const pdf = await fileOf(admin, { reportTypeID: 1, productID: fund.productID, format: 'pdf' })
    const text = (await pagesOf(pdf)).join(' ')
    for (const name of names) assert.ok(text.includes(name), name)
  })
})
