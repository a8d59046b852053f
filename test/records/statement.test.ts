import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { frankingCredit } from '../../src/records/statement/franking.ts'
import { configure, fundOf, keyOf, stage } from '../support/distribution.ts'
import { all, newPrice, only, poster } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { pagesOf } from '../support/readers.ts'
import { refused } from '../support/refused.ts'
import { cellsOf, ended, fileOf, order, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, quoted, type TaxingFund, taxingFund, unquoted } from '../support/withholding.ts'
import { filesIn } from '../support/zip.ts'

let service: Service
let stopWorker: () => Promise<void>
let fund: TaxingFund
let accounts: { accountID: number; bizEntityID: number }[]
let corporateActionID: number
const env = { REGISTRY_DATA_DIR: temporaryFolder() }

const issuer = {
  name: 'Example Funds Management Ltd',
  abn: '51 824 753 556',
  address: 'Level 3\n1 George Street\nSydney NSW 2000',
  phone: '02 5550 0000',
  email: 'registry@example.com',
  website: 'www.example.com',
  accentColour: '#005a3c',
  statementNote: 'Units are issued under the product disclosure statement.',
}

before(async () => {
  service = await startService(env)
  stopWorker = await workFor(service, env)
  fund = await taxingFund(service, { issuer })
  const address = (addressLine: string) => ({
    addresses: [
      {
        addressTypeID: 8,
        addressLine,
        suburb: 'Sydney',
        stateCode: 'NSW',
        postcode: '2000',
        countryCode: 'AU',
      },
    ],
  })
  const bank = {
    paymentDetails: [
      {
        bsb: '062-000',
        accountNumber: '12345678',
        accountName: 'J Smith',
        isForDistribution: true,
      },
    ],
  }
  const smith = { person: { ...quoted.person, firstName: 'Jo', lastName: 'Smith' } }
  accounts = [
    await investor(service, fund, [smith], {
      name: 'Jo Smith',
      ...address('1 Elm Street'),
      ...bank,
      account: { drpTypeID: 3, drpValue: 50, accountNumber: '1000123' },
    }),
    await investor(service, fund, [unquoted], {
      name: 'Łukasz Ωmega & Sons',
      ...address('2 Oak Street'),
      account: { accountNumber: 'A 7' },
    }),
  ]
  const taxComponents = [
    { taxComponentName: 'AustralianFrankedDividends', percentage: 60 },
    { taxComponentName: 'AustralianUnfrankedDividends', percentage: 40 },
  ]
  const drp = { drpIndicatorID: 2, drpInvestmentID: fund.targetID, drpPrice: 3 }
  const how = { name: 'June half', distributionAmountPerUnit: 1, taxComponents, ...drp }
  const distribution = await configure(service, fund, how)
  corporateActionID = distribution.corporateActionID
  for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
    await stage(service.admin, name, distribution)
})
after(async () => {
  await stopWorker()
  await service.stop()
})

const textOf = async (body: object) => {
  const report = { productID: fund.productID, format: 'pdf', ...body }
  return (await pagesOf(await fileOf(service.admin, report))).join('\n')
}
const has = (text: string, ...parts: string[]) => {
  for (const part of parts) assert.ok(text.includes(part), `${part} is in: ${text}`)
}

describe('The franking credit', () => {
  it('is that of the domain: 257.14 of 600.00 at 30 percent, 200.00 at 25', () => {
    assert.equal(frankingCredit([['600.00', '30']]), '257.14')
    assert.equal(frankingCredit([['600.00', '25']]), '200.00')
    assert.equal(frankingCredit([['0.01', '30']]), '0.00')
  })

  it('of a year is the sum of its statements, in the decimals of the currency', () => {
    const thrice = ['10.02', '10.02', '10.02'].map((amount) => [amount, '30'] as const)
    assert.equal(frankingCredit(thrice), '12.87')
    const yen = [
      ['76', '30'],
      ['31', '30'],
    ] as const
    assert.equal(frankingCredit(yen), '46')
  })

  it('has the rate of each amount', () => {
    const rates = [
      ['600.00', '30'],
      ['600.00', '25'],
    ] as const
    assert.equal(frankingCredit(rates), '457.14')
    // Whatever decimals it has: cut after four it would be 395348.19.
    assert.equal(frankingCredit([['1000000.00', '28.333333']]), '395348.83')
  })
})

describe('The address of an investor who has none', () => {
  it('is that of the primary contact, in letters and in the register', async () => {
    const party = (addressLine: string, more: object = {}) => ({
      person: { ...quoted.person, addresses: [{ addressTypeID: 8, addressLine }] },
      ...more,
    })
    const nominee = party('8 Nominee Street', { isAuthorisedNominee: true })
    const contact = party('9 Contact Street', { isPrimaryContact: true })
    const { bizEntityID } = await investor(service, fund, [nominee, contact], { name: 'Bo Lee' })
    const letter = await textOf({ reportTypeID: 7, bizEntityID })
    has(letter, '9 Contact Street')
    assert.doesNotMatch(letter, /Nominee/)
    const { productID } = fund
    const made = await fileOf(service.admin, { reportTypeID: 1, productID, format: 'json' })
    const register = made.toString()
    has(register, '9 Contact Street')
    assert.doesNotMatch(register, /Nominee/)
  })
})

describe('What a PDF cannot print', () => {
  it('is told of, in letters and in registers; headings and figures are never cut', async () => {
    const { productID, ...other } = await taxingFund(service)
    const { accountID } = await investor(service, { productID, ...other }, [unquoted], {
      name: '李小龍 Holdings',
      units: 7,
    })
    const large = { amount: '123456789.12', entryFeeAmount: '123456.78' }
    const posted = { accountID, investmentID: other.investmentID, transactionDate: '2026-03-31' }
    const send = poster(() => service.admin)
    only(await send('Deposit', { ...posted, ...large, investmentPrice: '2.123456' }))
    const letter = await textOf({ productID, reportTypeID: 7, accountID, date: '2026-06-30' })
    has(letter, 'U+674E, U+5C0F, U+9F8D', 'Closing balance, value', 'fee')
    has(letter, '123,456,789.12', '123,456.78', '2.123456', '30 Jun 2026')
    assert.doesNotMatch(letter, /…/)
    const register = await textOf({ productID, reportTypeID: 1, date: '2026-06-30' })
    has(register, 'U+674E, U+5C0F, U+9F8D', 'CSV, XLSX or JSON')
  })
})

describe('A distribution statement', () => {
  it('shows the figures that the gross amount is the product of, and no others', async () => {
    const own = await fundOf(service, [1000, 3000], { investments: [{ issuePrice: 2 }] })
    const period = { proRataStartDate: '2025-06-01', proRataEndDate: '2025-06-30' }
    const [first] = own.accounts
    const statement = async (how: object, lists: object = {}) => {
      const distribution = await configure(service, own, how)
      await stage(service.admin, 'Declare', distribution, { confirmSecond: true, ...lists })
      const key = { ...keyOf(distribution), accountID: first!.accountID }
      return textOf({ reportTypeID: 8, ...key })
    }
    has(await statement({ distributionAmountTotal: 100 }), 'Amount per unit 0.025')
    const shared = await statement({ distributionAmountTotal: 120, ...period })
    has(shared, 'added up 30,000', 'Amount per unit and day 0.001', '30.00')
    const cents = await statement({ centsPerUnitPerDay: '0.5', ...period })
    has(cents, 'added up 30,000', 'Amount per unit and day 0.005', '150.00')
    const method = { unitValuationMethod: 'Fixed' }
    const yearly = await statement({ proRataPercentPerAnnum: 7.3, ...method, ...period })
    has(yearly, 'added up 30,000', 'Value of a unit 2', 'Rate per annum 7.3%', '12.00')
    const given = { preCalculatedAccounts: [{ accountID: first!.accountID, amount: 7.77 }] }
    const elsewhere = await statement({ distributionAmountPerUnit: 1 }, given)
    has(elsewhere, '7.77')
    assert.doesNotMatch(elsewhere, /per unit/)
  })

  it('has components, credit, reinvestment and a masked payee, on the letterhead', async () => {
    const { accountID } = accounts[0]!
    const text = await textOf({ reportTypeID: 8, corporateActionID, accountID })
    has(text, 'Example Funds Management Ltd', 'ABN 51 824 753 556', 'registry@example.com')
    has(text, 'Jo Smith', '1 Elm Street', 'Sydney NSW 2000', 'Distribution statement', '1000123')
    has(text, '30 June 2025', '15 July 2025', 'June half', 'Page 1 of 1', issuer.statementNote)
    has(text, 'Australian Franked Dividends', '600.00', '257.14', '400.00', '1,000.00')
    // Half of 1000 at 3: 166 units for 498, and 2 carried forward.
    has(text, '166', '498.00', '2.00', '500.00', '062-000', '*****678')
    assert.ok(!text.includes('12345678'), 'no bank number')
  })

  it('tells tax by kind and reason, and writes names of any script', async () => {
    const { bizEntityID } = accounts[1]!
    const text = await textOf({ reportTypeID: 8, corporateActionID, bizEntityID })
    has(text, 'Łukasz Ωmega & Sons', 'no tax file number quoted', '47%', '188.00', '812.00')
  })

  it('of what is not paid yet claims no payment, and no tax that was not worked out', async () => {
    const own = await taxingFund(service)
    const { accountID } = await investor(service, own, [unquoted])
    const taxComponents = [{ taxComponentName: 'AustralianUnfrankedDividends', percentage: 100 }]
    const distribution = await configure(service, own, {
      distributionAmountPerUnit: 1,
      taxComponents,
    })
    const statement = () => textOf({ reportTypeID: 8, ...keyOf(distribution), accountID })
    await stage(service.admin, 'Declare', distribution)
    const declared = await statement()
    has(declared, 'To be paid to you 1,000.00', 'not paid yet', 'Tax that has to be withheld')
    assert.doesNotMatch(declared, /Paid to you|Less tax/)
    await stage(service.admin, 'Payment', distribution)
    const paid = await statement()
    has(paid, 'Less tax withheld 470.00', 'Paid to you 530.00')
    assert.doesNotMatch(paid, /not paid yet/)
  })

  it('shows nothing of a bank number of three characters or fewer', async () => {
    const own = await taxingFund(service)
    const bank = {
      bsb: '062-000',
      accountNumber: '987',
      accountName: 'Sho',
      isForDistribution: true,
    }
    const { accountID } = await investor(service, own, [quoted], { paymentDetails: [bank] })
    const distribution = await configure(service, own, { distributionAmountPerUnit: 1 })
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    const paid = { productID: own.productID, corporateActionID: distribution.corporateActionID }
    const text = await textOf({ reportTypeID: 8, ...paid, accountID })
    has(text, '062-000 ***')
    assert.ok(!text.includes('987'), text)
  })

  it('for everybody leaves nothing behind where there is nothing to state', async () => {
    const { productID } = await taxingFund(service)
    const period = { fromDate: '2025-07-01', toDate: '2026-06-30' }
    const body = { reportTypeID: 7, productID, format: 'zip', ...period }
    const { reportID } = await order(service.admin, body)
    const { errorMessage } = await ended(service.admin, reportID)
    assert.equal(errorMessage, 'No account has anything to report in such a statement.')
    assert.deepEqual(readdirSync(join(env.REGISTRY_DATA_DIR, 'files', 'drafts')), [])
  })

  it('for everybody is a zip with a PDF for each account and a list', async () => {
    const body = { reportTypeID: 8, productID: fund.productID, corporateActionID, format: 'zip' }
    const files = filesIn(await fileOf(service.admin, body))
    const names = [...files.keys()]
    const { accountID } = accounts[1]!
    assert.deepEqual(names, [
      '1000123-smith-2025-07-15.pdf',
      `a-7-id${accountID}-lukasz-mega-sons-2025-07-15.pdf`,
      'index.csv',
    ])
    has((await pagesOf(files.get(names[0]!)!)).join(''), 'Jo Smith', '257.14')
    assert.deepEqual(
      cellsOf(files.get('index.csv')!).map(([file, number, name]) => [file, number, name]),
      [
        ['file', 'accountNumber', 'name'],
        [names[0], '1000123', 'Jo Smith'],
        [names[1], 'A 7', 'Łukasz Ωmega & Sons'],
      ],
    )
    const { rowCount } = await order(service.admin, body)
    assert.equal(rowCount, 2)
  })
})

describe('An annual tax statement', () => {
  it('is of the financial year that the date is in, and ties cash to payments', async () => {
    const { accountID } = accounts[1]!
    const text = await textOf({ reportTypeID: 9, accountID, date: '2025-09-30' })
    has(text, 'Annual tax statement 2025–26', '1 July 2025', '30 June 2026')
    has(text, '600.00', '257.14', '400.00', '188.00', '15 Jul 2025', '1,000.00', '812.00')
    has(text, 'Paid to you in the year')
    assert.equal(text.split('812.00').length - 1, 4, 'line, sum, cash, and what was posted')
    const body = { reportTypeID: 9, accountID, productID: fund.productID, date: '2024-09-30' }
    const earlier = await order(service.admin, body)
    assert.equal(earlier.reportStatusID, 4)
    assert.match(earlier.errorMessage, /No account has anything/)
  })

  it('is of one class where that is named, and says so', async () => {
    const { accountID } = accounts[1]!
    const body = { reportTypeID: 9, accountID, date: '2025-09-30' }
    const [own, other] = [fund.investmentID, fund.targetID]
    const text = await textOf({ ...body, investmentID: own })
    has(text, 'Class', '812.00')
    const none = await order(service.admin, {
      ...body,
      productID: fund.productID,
      investmentID: other,
    })
    assert.match(none.errorMessage, /No account has anything/)
  })

  it('goes by the year of the product', async () => {
    const { productID } = fund
    const product = only(await service.admin.get(`/Product?ProductID=${productID}`))
    assert.equal(product.financialYearEnd, '06-30')
    assert.deepEqual(product.issuer.name, issuer.name)
    only(await service.admin.put('/Product', { ...product, financialYearEnd: '12-31' }))
    const { accountID } = accounts[1]!
    const text = await textOf({ reportTypeID: 9, accountID, date: '2025-09-30' })
    has(text, 'Annual tax statement 2025', '1 January 2025', '31 December 2025')
    assert.doesNotMatch(text, /2025–/)
    for (const financialYearEnd of ['13-01', '06-31', '02-30', '02-29', '00-10', '01-32', '1-1']) {
      const wrong = await service.admin.put('/Product', { ...product, financialYearEnd })
      refused(wrong, 400, 'invalid_value')
    }
    only(await service.admin.put('/Product', { ...product, financialYearEnd: '02-28' }))
    only(await service.admin.put('/Product', product))
  })
})

describe('Confirmations and holding statements', () => {
  it('have the transactions of a period, with fee and balance', async () => {
    const { accountID } = accounts[1]!
    const { investmentID } = fund
    await newPrice(service, investmentID, '2025-08-01', 2)
    const deposit = {
      accountID,
      investmentID,
      transactionDate: '2025-08-10',
      amount: 204,
      entryFeeAmount: 4,
    }
    only(await poster(() => service.admin)('Deposit', deposit))
    const period = { fromDate: '2025-08-01', toDate: '2025-08-31' }
    const confirmation = await textOf({ reportTypeID: 15, accountID, ...period })
    has(confirmation, 'Transaction confirmation', '10 Aug 2025', 'Deposit', '204.00', '4.00')
    has(confirmation, '1 August 2025', '1,100')
    assert.ok(!confirmation.includes('Allotment'), 'only the period')
    const statement = await textOf({ reportTypeID: 7, accountID, ...period })
    has(statement, 'Holding statement', 'Opening balance', '1,000', 'Closing balance', '2,200.00')
    has(statement, issuer.name, 'Page 1 of 1')
    const zip = { reportTypeID: 15, productID: fund.productID, format: 'zip', ...period }
    assert.equal(filesIn(await fileOf(service.admin, zip)).size, 2)
  })

  it('of an investor with several accounts are one PDF', async () => {
    const { bizEntityID } = accounts[1]!
    const entity = only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
    const { productID, investmentID } = fund
    entity.accounts.push({ productID })
    const { accounts: both } = only(await service.admin.put('/BizEntity', entity))
    const { accountID } = both[1]
    const allotment = { accountID, investmentID, quantity: 5, amount: 5 }
    const dated = { ...allotment, transactionDate: '2025-08-20' }
    only(await poster(() => service.admin)('Allotment', dated))
    const period = { fromDate: '2025-08-01', toDate: '2025-08-31' }
    const body = { reportTypeID: 7, productID, bizEntityID, format: 'pdf', ...period }
    assert.equal((await pagesOf(await fileOf(service.admin, body))).length, 2)
  })
})

describe('What cannot be a letter', () => {
  it('is refused when it is ordered', async () => {
    const { productID } = fund
    const post = (body: object) => service.admin.post('/Report', { productID, ...body })
    const { accountID } = accounts[0]!
    refused(await post({ reportTypeID: 9, accountID, format: 'csv' }), 400, 'invalid_value')
    refused(await post({ reportTypeID: 9, format: 'pdf' }), 400, 'required')
    refused(await post({ reportTypeID: 8, format: 'zip' }), 400, 'required')
    refused(await post({ reportTypeID: 1, format: 'zip' }), 400, 'invalid_value')
    const ordered = await post({ reportTypeID: 9 })
    assert.equal(ordered.data.format, 'zip')
    all(await service.admin.get('/Report'))
  })
})
