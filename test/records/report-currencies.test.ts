import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  account,
  choose,
  configure,
  keyOf,
  newPaymentDetail,
  stage,
} from '../support/distribution.ts'
import { all, type Fund, newFund, poster } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { pagesOf, sheetsOf } from '../support/readers.ts'
import { cellsOf, fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let stopWorker: () => Promise<void>
/** A fund with two classes in Australian dollars and one in yen; one investor holds all three. */
let fund: Fund
const env = { REGISTRY_DATA_DIR: temporaryFolder() }
const JPY = 8
const date = '2026-03-31'

before(async () => {
  service = await startService(env)
  stopWorker = await workFor(service, env)
  const investments = [
    { securityCode: 'AU1' },
    { securityCode: 'AU2' },
    { securityCode: 'YEN', currencyID: JPY },
  ]
  fund = await newFund(service, { accounts: 2, investments, price: 2 })
  const [first, second] = [account(fund, 0), account(fund, 1)]
  const [au1, au2, yen] = fund.investmentIDs
  const post = poster(
    () => service.admin,
    () => ({ productID: fund.productID, transactionDate: '2025-01-10' }),
  )
  const fee = { entryFeeAmount: 10 }
  all(
    await post('Deposit', [
      { accountID: first, investmentID: au1, amount: 110, ...fee },
      { accountID: first, investmentID: au2, amount: 210, ...fee },
      { accountID: first, investmentID: yen, amount: 30_010, ...fee },
      { accountID: second, investmentID: au1, amount: 410, ...fee },
    ]),
  )
})
after(async () => {
  await stopWorker()
  await service.stop()
})

type Row = Record<string, string | number | null>
type Made = { rows: Row[]; totals: Row | null; classTotals?: Row[]; currencyTotals?: Row[] }

const asked = (body: object) => ({ productID: fund.productID, date, toDate: date, ...body })
const made = async (body: object): Promise<Made> =>
  JSON.parse((await fileOf(service.admin, asked({ format: 'json', ...body }))).toString())
const shown = (rows: Row[] | undefined, ...keys: string[]) =>
  rows?.map((row) => keys.map((key) => row[key]))

describe('Reports on classes of several currencies', () => {
  it('add up the holdings of each, and name it in every line', async () => {
    const { totals, classTotals, currencyTotals } = await made({ reportTypeID: 2 })
    assert.deepEqual(shown(classTotals, 'class', 'units', 'value', 'currency'), [
      ['AU1', 250, 500, 'AUD'],
      ['AU2', 100, 200, 'AUD'],
      ['YEN', 15_000, 30_000, 'JPY'],
    ])
    assert.deepEqual(shown(currencyTotals, 'units', 'cost', 'value', 'gain', 'currency'), [
      [null, 730, 700, -30, 'AUD'],
      [15_000, 30_010, 30_000, -10, 'JPY'],
    ])
    assert.equal(totals, null)
  })

  it('name the currency of each transaction, and add up those of each', async () => {
    const { rows, currencyTotals } = await made({ reportTypeID: 3 })
    assert.deepEqual(shown(rows, 'amount', 'currency'), [
      [110, 'AUD'],
      [210, 'AUD'],
      [30_010, 'JPY'],
      [410, 'AUD'],
    ])
    assert.deepEqual(shown(currencyTotals, 'amount', 'fee', 'currency'), [
      [730, 30, 'AUD'],
      [30_010, 10, 'JPY'],
    ])
  })

  it('tell an investor what their holdings are worth in each, in every format', async () => {
    const body = { reportTypeID: 7, accountID: account(fund, 0) }
    const { rows, totals, currencyTotals } = await made(body)
    assert.deepEqual([...new Set(rows.map(({ currency }) => currency))], ['AUD', 'JPY'])
    assert.deepEqual(shown(currencyTotals, 'value', 'currency'), [
      [300, 'AUD'],
      [30_000, 'JPY'],
    ])
    assert.equal(totals, null)
    const file = (format: string) => fileOf(service.admin, asked({ ...body, format }))
    const lines = cellsOf(await file('csv')).filter(([first]) => first?.startsWith('Total'))
    assert.deepEqual(
      lines.map((cells) => [cells[0], ...cells.slice(-2)]),
      [
        ['Total AUD', '300.00', 'AUD'],
        ['Total JPY', '30000', 'JPY'],
      ],
    )
    const [sheet] = await sheetsOf(await file('xlsx'))
    const last = sheet!.rows.at(-1)!
    assert.deepEqual([last[0], ...last.slice(-2)], ['Total JPY', { digits: '30000' }, 'JPY'])
    const pdf = await fileOf(service.admin, asked({ reportTypeID: 3, format: 'pdf' }))
    const text = (await pagesOf(pdf)).join('\n')
    assert.match(text, /Total AUD 730\.00 30\.00 AUD Total JPY .*30,010 10 JPY/)
  })

  it('need no second total where there is one class, and name its currency', async () => {
    const body = { reportTypeID: 3, accountID: account(fund, 1) }
    const one = await made(body)
    assert.deepEqual([one.totals!.amount, one.totals!.currency], [410, 'AUD'])
    assert.deepEqual([one.classTotals, one.currencyTotals], [undefined, undefined])
    const yen = await made({ reportTypeID: 2, securityCode: 'YEN' })
    assert.deepEqual([yen.totals!.value, yen.totals!.currency], [30_000, 'JPY'])
  })
})

describe('A distribution of a class in another currency than the product', () => {
  it('is named by its own, and says of nobody who gets no money where it went', async () => {
    const { productID } = fund
    const investmentID = fund.investmentIDs[2]!
    await newPaymentDetail(service, account(fund, 0))
    await choose(service, account(fund, 0), 2)
    const drp = { drpIndicatorID: 2, drpInvestmentID: investmentID, drpPrice: 2 }
    const of = { productID, investmentID }
    const distribution = await configure(service, of, { distributionAmountPerUnit: 1, ...drp })
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    const { totals } = await made({ reportTypeID: 4, ...keyOf(distribution) })
    assert.deepEqual([totals!.gross, totals!.cash, totals!.currency], [15_000, 0, 'JPY'])
    const letter = {
      reportTypeID: 8,
      ...keyOf(distribution),
      bizEntityID: fund.accounts[0]!.bizEntityID,
    }
    const pages = await pagesOf(await fileOf(service.admin, { ...letter, format: 'pdf' }))
    const text = pages.join('\n')
    assert.match(text, /Your distribution \(JPY\)/)
    assert.match(text, /Paid to you 0 /)
    assert.doesNotMatch(text, /Paid to Holder/)
  })
})
