import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { allot, configure, entitled, fundOf, keyOf, stage } from '../support/distribution.ts'
import { all, dayIn, only, poster } from '../support/ledger.ts'
import { newRun, paidFund, paymentsOf, payOut, step } from '../support/payment-run.ts'
import { temporaryFolder } from '../support/process.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { fileOf, order, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { abroad, investor, quoted, taxingFund, tfn, unquoted } from '../support/withholding.ts'

let service: Service
let approver: Client
let stopWorker: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }
before(async () => {
  service = await startService(env)
  approver = await service.userWith({ role: 'Administrator' })
  stopWorker = await workFor(service, env)
})
after(async () => {
  await stopWorker()
  await service.stop()
})

type Row = Record<string, string | number | null>
const made = async (body: object): Promise<{ rows: Row[]; totals: Row | null }> =>
  JSON.parse((await fileOf(service.admin, { format: 'json', ...body })).toString())
const shown = (rows: Row[], ...keys: string[]) => rows.map((row) => keys.map((key) => row[key]))

type Run = { paymentRunID: number }

describe('Report 11, Unclaimed money', () => {
  it('has what came back by the date and has not gone out again', async () => {
    const { fund } = await paidFund(service, [10, 20, 30, 40])
    const run = await newRun(service.admin, fund)
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [a, b, c, d] = await paymentsOf(service.admin, run)
    const back = (date: string) => ({ state: 'Returned', reason: 'Account closed', date })
    await step(service.admin, 'Result', run, {
      payments: [
        { paymentID: a.paymentID, state: 'Paid' },
        { paymentID: b.paymentID, ...back('2025-07-20') },
        { paymentID: c.paymentID, ...back('2025-07-25') },
        { paymentID: d.paymentID, ...back('2025-09-01') },
      ],
    })
    await step(service.admin, 'Unclaimed', run, { days: 0, paymentIDs: [b.paymentID] })
    const { productID } = fund
    const body = { reportTypeID: 11, productID, date: '2025-07-30' }
    const { rows, totals } = await made(body)
    assert.deepEqual(shown(rows, 'state', 'date', 'days', 'amount', 'reason'), [
      ['Unclaimed', '2025-07-20', 10, 20, 'Account closed'],
      ['Returned', '2025-07-25', 5, 30, 'Account closed'],
    ])
    assert.equal(totals!.amount, 50)
    const own = { ...body, accountID: c.accountID }
    assert.deepEqual(shown((await made(own)).rows, 'state', 'amount'), [['Returned', 30]])
    assert.match(rows[0]!.reference as string, /^PAY \d+$/)
  })

  it('has what was sent again later, and nothing twice', async () => {
    const { fund } = await paidFund(service, [10, 20])
    const first = await newRun(service.admin, fund)
    const sent = async (run: Run) => {
      await step(approver, 'Approve', run)
      await step(service.admin, 'Sent', run)
      return paymentsOf(service.admin, run)
    }
    const comesBack = (run: Run, { paymentID }: { paymentID: number }, date: string) =>
      step(service.admin, 'Result', run, {
        payments: [{ paymentID, state: 'Returned', reason: 'Closed', date }],
      })
    const [a] = await sent(first)
    await comesBack(first, a, '2025-07-20')
    const asAt = async (date: string) => {
      const { rows } = await made({ reportTypeID: 11, productID: fund.productID, date })
      return shown(rows, 'reference', 'state', 'date', 'amount')
    }
    const returned = [[a.reference, 'Returned', '2025-07-20', 10]]
    assert.deepEqual(await asAt('2025-07-30'), returned)
    const again = await step(service.admin, 'Reissue', first)
    assert.deepEqual(await asAt('2025-07-30'), returned)
    assert.deepEqual(await asAt(dayIn()), returned, 'a draft sends nothing yet')
    const [b] = await sent(again)
    assert.deepEqual(await asAt('2025-07-30'), returned)
    assert.deepEqual(await asAt(dayIn()), [])
    // Its result is dated back, before it was sent: from then on it is this one that is returned.
    await comesBack(again, b, '2025-07-25')
    assert.deepEqual(await asAt('2025-07-24'), returned)
    const second = [[b.reference, 'Returned', '2025-07-25', 10]]
    assert.deepEqual(await asAt('2025-07-30'), second)
    assert.deepEqual(await asAt(dayIn()), second)
  })
})

describe('Report 10, Payment reconciliation', () => {
  it('is of the days up to toDate, of days ahead too without any, and of a class', async () => {
    const fund = await fundOf(service, [10], { investments: [{}, {}] })
    const [first, second] = fund.investmentIDs.map((investmentID) => ({ ...fund, investmentID }))
    const { accountID } = fund
    await allot(service, second!, [{ accountID, quantity: 20 }], '2024-01-01')
    const early = await payOut(service, first!)
    const later = await configure(service, second!, {
      distributionAmountPerUnit: 1,
      paymentDate: dayIn(5),
    })
    for (const name of ['Declare', 'Payment'] as const) await stage(service.admin, name, later)
    const of = async (more: object) => {
      const body = { reportTypeID: 10, productID: fund.productID, ...more }
      return [...new Set(shown((await made(body)).rows, 'number').flat())]
    }
    const [one, two] = [early, later].map(({ corporateActionID }) => String(corporateActionID))
    assert.deepEqual(await of({}), [one, two])
    assert.deepEqual(await of({ toDate: '2025-07-15' }), [one])
    assert.deepEqual(await of({ toDate: '2025-07-14' }), [])
    assert.deepEqual(await of({ fromDate: '2025-07-16' }), [])
    assert.deepEqual(await of({ investmentID: second!.investmentID }), [two])
    assert.deepEqual(await of({ investmentID: first!.investmentID }), [one])
  })
})

describe('Report 3, Transactions', () => {
  it('adds up what was paid for units, and not what a distribution paid out with it', async () => {
    const { fund } = await paidFund(service, [10, 20])
    const { rows, totals } = await made({ reportTypeID: 3, productID: fund.productID })
    const sum = (some: Row[]) => some.reduce((all, { amount }) => all + Number(amount), 0)
    const ofUnits = rows.filter(({ units }) => units !== 0)
    assert.equal(sum(rows) - sum(ofUnits), 30)
    assert.equal(totals!.amount, sum(ofUnits))
  })
})

describe('Report 4, Distribution', () => {
  it('names the bank accounts that were paid, whatever became of them since', async () => {
    const { fund, distribution } = await paidFund(service, [10, 20])
    const body = { reportTypeID: 4, ...keyOf(distribution) }
    const paid = shown((await made(body)).rows, 'accountNumber', 'cash', 'paidTo')
    const [changed, deleted] = (await entitled(service.admin, distribution)).map(
      ({ paymentDetailID }: { paymentDetailID: number }) => paymentDetailID,
    )
    const path = (id: number) => `/PaymentDetail?PaymentDetailID=${id}`
    const stored = only(await service.admin.get(path(changed)))
    only(await service.admin.put('/PaymentDetail', { ...stored, accountNumber: '98765' }))
    assert.equal((await service.admin.delete(path(deleted))).status, 200)
    assert.deepEqual(shown((await made(body)).rows, 'accountNumber', 'cash', 'paidTo'), paid)
    assert.ok(paid.every(([, , paidTo]) => paidTo))
    assert.equal(paid.length, fund.accounts.length)
  })
})

describe('A report on a distribution', () => {
  it('is of its class: another is refused', async () => {
    const fund = await fundOf(service, [10], { investments: [{}, {}] })
    const [own, other] = fund.investmentIDs
    const { corporateActionID } = await payOut(service, fund)
    const { productID, accountID } = fund
    const named = { productID, corporateActionID, accountID }
    for (const reportTypeID of [4, 8, 10]) {
      const body = { ...named, reportTypeID }
      const reply = await service.admin.post('/Report', { ...body, investmentID: other })
      refused(reply, 400, 'combination')
      assert.deepEqual(fieldsOf(reply), ['investmentID'])
      await order(service.admin, { ...body, investmentID: own })
    }
  })
})

describe('Report 12, Withholding summary', () => {
  it('adds up income and tax by kind, rule, country and rate', async () => {
    const fund = await taxingFund(service)
    for (const party of [unquoted, unquoted, abroad('NZL'), abroad('NZ'), abroad('BR'), quoted])
      await investor(service, fund, [party])
    const taxComponents = [
      { taxComponentName: 'AustralianUnfrankedDividends', percentage: 40 },
      { taxComponentName: 'CapitalGains', percentage: 60 },
    ]
    const how = { distributionAmountPerUnit: 1, taxComponents }
    const distribution = await configure(service, fund, how)
    await stage(service.admin, 'Declare', distribution)
    const { productID } = fund
    const body = { reportTypeID: 12, productID, fromDate: '2025-07-01', toDate: '2025-07-31' }
    assert.equal((await made(body)).rows.length, 0, 'not before it is paid')
    await stage(service.admin, 'Payment', distribution)
    const { rows, totals } = await made(body)
    assert.deepEqual(
      shown(rows, 'incomeKind', 'rule', 'country', 'percentage', 'accounts', 'base', 'tax'),
      [
        ['CapitalGain', 'NoTfn', null, 47, 2, 1200, 564],
        ['CapitalGain', 'NonResident', 'Brazil', 0, 1, 600, 0],
        ['CapitalGain', 'NonResident', 'New Zealand', 0, 2, 1200, 0],
        ['UnfrankedDividend', 'NoTfn', null, 47, 2, 800, 376],
        ['UnfrankedDividend', 'NonResident', 'Brazil', 30, 1, 400, 120],
        ['UnfrankedDividend', 'NonResident', 'New Zealand', 15, 2, 800, 120],
      ],
    )
    assert.deepEqual([totals!.base, totals!.tax], [5000, 1180])
    const later = { ...body, fromDate: '2025-08-01', toDate: '2025-08-31' }
    assert.equal((await made(later)).rows.length, 0)
  })
})

describe('Reports 4 and 12 for one investor', () => {
  it('have nothing of others, nor of the other accounts where one is named', async () => {
    const fund = await taxingFund(service)
    const { bizEntityID } = await investor(service, fund, [unquoted])
    await investor(service, fund, [unquoted], { units: 300 })
    const { productID, investmentID } = fund
    const entity = only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
    entity.accounts.push({ productID })
    const { accountID } = only(await service.admin.put('/BizEntity', entity)).accounts[1]
    const units = { accountID, investmentID, quantity: 200, amount: 200 }
    only(
      await poster(() => service.admin)('Allotment', { ...units, transactionDate: '2024-01-01' }),
    )
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    const figures = async (whose: object) => {
      const body = { ...keyOf(distribution), ...whose }
      const account = await made({ reportTypeID: 4, ...body })
      const tax = await made({ reportTypeID: 12, ...body })
      return [account.rows.length, account.totals!.gross, tax.totals!.base, tax.totals!.tax]
    }
    assert.deepEqual(await figures({}), [3, 1500, 1500, 705])
    assert.deepEqual(await figures({ bizEntityID }), [2, 1200, 1200, 564])
    assert.deepEqual(await figures({ accountID }), [1, 200, 200, 94])
  })
})

describe('Report 13, Data quality', () => {
  it('names what records lack, and what they have wrong, numbers that are sealed too', async () => {
    const fund = await taxingFund(service)
    const person = (more: object) => ({
      person: {
        firstName: 'Pat',
        lastName: 'Quill',
        dateOfBirth: '1980-01-01',
        taxationCountryCode: 'AUS',
        ...tfn,
        ...more,
      },
    })
    const complete = (email: string, bsb = '062-000') => ({
      addresses: [{ addressTypeID: 8, addressLine: '1 Elm St', countryCode: 'NZ' }],
      communications: [{ communicationTypeID: 1, name: email }],
      paymentDetails: [{ bsb, accountNumber: '1234', isForDistribution: true }],
    })
    await investor(service, fund, [person({})], {
      name: 'A good one',
      ...complete('a@example.com'),
    })
    await investor(service, fund, [{ person: { firstName: 'Bo' } }], { name: 'B bare' })
    await investor(service, fund, [person({ taxationFileNumber: '123456789' })], {
      name: 'C wrong',
      ...complete('c@example.com'),
    })
    const company = { organisation: { name: 'Dee', abn: '51824753557', acn: '999999999' } }
    await investor(service, fund, [company], {
      name: 'D company',
      bizEntityTypeID: 2,
      taxationCountryCode: 'AUS',
      ...complete('d@example.com'),
    })
    await investor(service, fund, [person({ taxationFileNumber: '333333333' })], {
      name: 'E exempt',
      ...complete('e@example.com'),
    })
    const { rows } = await made({ reportTypeID: 13, productID: fund.productID })
    assert.deepEqual(shown(rows, 'name', 'party', 'problem'), [
      ['B bare', null, 'no_bank'],
      ['B bare', null, 'no_email'],
      ['B bare', null, 'no_postal_address'],
      ['B bare', 'Bo', 'no_date_of_birth'],
      ['B bare', 'Bo', 'no_tax_residence'],
      ['B bare', 'Bo', 'no_tfn'],
      ['C wrong', 'Pat Quill', 'wrong_tfn'],
      ['D company', 'Dee', 'wrong_abn'],
      ['D company', 'Dee', 'wrong_acn'],
    ])
    const text = JSON.stringify(rows)
    assert.ok(!text.includes('123456789'), 'no number is told')
  })
})

describe('Report 14, Units on issue', () => {
  it('has a line for every day and class in which opening and movements make closing', async () => {
    const fund = await taxingFund(service)
    const a = await investor(service, fund, [quoted])
    const b = await investor(service, fund, [quoted], { units: 500 })
    const { productID, investmentID } = fund
    const post = poster(
      () => service.admin,
      () => ({ productID, investmentID, accountID: a.accountID }),
    )
    only(await post('Allotment', { transactionDate: '2025-03-02', quantity: 100, amount: 100 }))
    only(await post('Redemption', { transactionDate: '2025-03-02', quantity: 30, amount: 30 }))
    const transfer = {
      productID,
      investmentID,
      fromAccountID: a.accountID,
      toAccountID: b.accountID,
      transactionDate: '2025-03-04',
      quantity: 50,
      amount: 50,
    }
    all(await service.admin.post('/BizTransaction/Transfer', transfer))
    only(await post('Adjustment', { transactionDate: '2025-03-04', quantity: -5 }))
    const body = { reportTypeID: 14, investmentID, fromDate: '2025-03-01', toDate: '2025-03-04' }
    const { rows } = await made(body)
    const figures = ['date', 'opening', 'issued', 'redeemed', 'transferred', 'adjusted', 'closing']
    assert.deepEqual(shown(rows, ...figures), [
      ['2025-03-01', 1500, 0, 0, 0, 0, 1500],
      ['2025-03-02', 1500, 100, -30, 0, 0, 1570],
      ['2025-03-03', 1570, 0, 0, 0, 0, 1570],
      ['2025-03-04', 1570, 0, 0, 0, -5, 1565],
    ])
    const whole = await made({ ...body, investmentID: undefined, productID })
    assert.equal(whole.rows.length, 8, 'each class by itself')
    const month = await made({ reportTypeID: 14, investmentID, toDate: '2025-03-10' })
    assert.equal(month.rows.length, 10, 'without a first day, the month of the last')
  })
})

describe('Reports', () => {
  it('show the entry fee of a posting, in lists and statements', async () => {
    const fund = await taxingFund(service)
    const { accountID } = await investor(service, fund, [quoted])
    const { productID, investmentID } = fund
    const body = { accountID, investmentID, transactionDate: '2025-05-05', investmentPrice: 1 }
    const deposit = { ...body, amount: 1000, entryFeePercentage: 2 }
    const posted = only(await poster(() => service.admin)('Deposit', deposit))
    assert.equal(posted.entryFeeAmount, 20)
    const period = { fromDate: '2025-05-01', toDate: '2025-05-31' }
    const list = await made({ reportTypeID: 3, productID, ...period })
    assert.deepEqual(shown(list.rows, 'type', 'fee'), [['Deposit', 20]])
    const statement = await made({ reportTypeID: 7, accountID, ...period })
    assert.deepEqual(
      statement.rows.map(({ fee }) => fee),
      [null, 20, null],
    )
  })

  it('show what is gone as worth nothing, also where there was no price', async () => {
    const fund = await taxingFund(service)
    const { accountID } = await investor(service, fund, [quoted])
    const { investmentID } = fund
    const [{ quantity }] = all(
      await service.admin.get(`/BizEntity/Account/Holdings?AccountID=${accountID}`),
    )
    const whole = { accountID, investmentID, quantity, amount: 5000 }
    const post = poster(() => service.admin)
    only(await post('Redemption', { ...whole, transactionDate: '2025-05-05' }))
    const period = { fromDate: '2025-05-01', toDate: '2025-05-31' }
    const { rows } = await made({ reportTypeID: 7, accountID, ...period })
    assert.deepEqual(shown(rows, 'balance', 'value').at(-1), [0, 0])
  })

  it('of every kind are refused to who may not read what they are made of', async () => {
    const fund = await taxingFund(service)
    const clerk = await service.userWith({ permissions: ['Report.Write', 'Report.Read'] })
    for (const reportTypeID of [10, 11, 12, 13, 14]) {
      const reply = await clerk.post('/Report', { reportTypeID, productID: fund.productID })
      assert.equal(reply.status, 403, reply.text)
      for (const format of ['csv', 'xlsx', 'pdf']) {
        const body = { reportTypeID, productID: fund.productID, format }
        const { reportStatusID, errorMessage } = await order(service.admin, body)
        assert.equal(reportStatusID, 3, errorMessage)
      }
    }
  })
})
