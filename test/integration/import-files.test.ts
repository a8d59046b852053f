import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventsAfter, feedEnd } from '../support/events.ts'
import {
  depositRow,
  errorsOf,
  imported,
  importFor,
  lines,
  sendFile,
  transactionHead,
} from '../support/imports.ts'
import { all, type Fund, newFund, newInvestment } from '../support/ledger.ts'
import { newRun, paidFund, paymentsOf, step } from '../support/payment-run.ts'
import { temporaryFolder } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { cellsOf } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { workbook } from '../support/workbook.ts'

let service: Service
let fund: Fund
let stop: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }

before(async () => {
  service = await startService(env)
  stop = await importFor(service, env)
  fund = await newFund(service, { accounts: 6 })
})
after(async () => {
  await stop()
  await service.stop()
})

const terms = { type: 'Transactions', mode: 'continue' }
const head = [...transactionHead, 'comment']
const deposit = (accountID: number, comment: string) => [
  ...depositRow(fund, accountID, 100),
  comment,
]
const postedTo = async (accountID: number) =>
  all(await service.admin.get(`/BizTransaction?AccountID=${accountID}&PageSize=1000`))

describe('A workbook', () => {
  const bookHead = head.map((text) => ({ text }))
  const row = (accountID: number, day: number, comment: Parameters<typeof workbook>[0][0][0]) => [
    ...[{ text: 'Deposit' }, { number: String(accountID) }, { number: String(fund.investmentID) }],
    ...[{ day }, null, { number: '100' }, comment],
  ]

  it('has its days counted from 1904 where it says so', async () => {
    const { accountID } = fund.accounts[0]!
    const rows = [bookHead, row(accountID, 44_570.75, null)]
    const book = await workbook(rows, { date1904: true })
    const end = await imported(service.admin, terms, book, 'mac.xlsx')
    assert.deepEqual([end.status, end.rowsAccepted], ['Completed', 1])
    const [posted] = await postedTo(accountID)
    assert.equal(posted.transactionDate, '2026-01-10T00:00:00Z')
  })

  it('is refused the rows where a formula has no value, also once they are texts', async () => {
    const { accountID } = fund.accounts[1]!
    const book = await workbook([
      bookHead,
      row(accountID, 46_032, { formula: '1/0', fault: '#DIV/0!' }),
      row(accountID, 46_032, { formula: '"not worked out"' }),
      row(accountID, 46_032, { text: 'A comment' }),
    ])
    const end = await imported(service.admin, terms, book, 'formulas.xlsx')
    assert.deepEqual([end.rowsRead, end.rowsAccepted, end.rowsRefused], [3, 1, 2])
    const errors = await errorsOf(service.admin, end)
    const again = await imported(service.admin, terms, errors, 'again.xlsx')
    assert.deepEqual([again.rowsAccepted, again.rowsRefused], [0, 2])
    const saved = lines(head, deposit(accountID, '#REF!'))
    const text = (await errorsOf(service.admin, await imported(service.admin, terms, saved)))
      .toString()
      .split('\r\n')[1]
    assert.match(text ?? '', /^2,comment,invalid_value,comment is #REF!: a formula has no value/)
    assert.equal((await postedTo(accountID)).length, 1)
  })

  it('has figures as one sees them, without the noise of its arithmetic', async () => {
    const { investmentID } = await newInvestment(service, fund.productID)
    const seen = {
      '0.30000000000000004': '0.3',
      '2.6749999999999998': '2.675',
      '1234.5600000000013': '1234.56',
      '0.79999999999999993': '0.8',
      '1.1499999999999999E-2': '0.0115',
      '1.0000000000000001E-5': '0.00001',
      '3.3333333333333335': '3.3333333333333335',
      '12345678.12345678': '12345678.12345678',
      // No double is written so, and whole numbers may be somebody's.
      '123456789012345.67890123': '123456789012345.67890123',
      '100000000000000001': '100000000000000001',
      '1000000000000001': '1000000000000001',
    }
    const prices = Object.keys(seen).map((number, i) => [
      { number: String(investmentID) },
      { day: 46_032 + i },
      { number },
    ])
    const priceHead = ['investmentID', 'priceDate', 'price'].map((text) => ({ text }))
    const book = await workbook([priceHead, ...prices])
    const end = await imported(service.admin, { ...terms, type: 'Prices' }, book, 'noise.xlsx')
    assert.deepEqual([end.status, end.rowsRefused], ['Completed', 0])
    const { text } = await service.admin.get(`/Investment/Price?InvestmentID=${investmentID}`)
    const found = [...text.matchAll(/"price":([^,]+)/g)].map(([, price]) => price)
    assert.deepEqual(found, Object.values(seen))
  })

  it('has numbers with the zeros in front that one sees, and figures without', async () => {
    const { accountID } = fund.accounts[1]!
    const before = (await postedTo(accountID)).length
    const numbers = [
      { number: '12345678', style: 'account' },
      { number: '62000', style: 'branch' },
      { number: '1234567', style: 'branch' },
      { number: '12.5', style: 'account' },
    ] as const
    const rows = numbers.map((number) =>
      row(accountID, 46_032, number).with(5, { number: '100', style: 'account' }),
    )
    const book = await workbook([bookHead, ...rows])
    const end = await imported(service.admin, terms, book, 'zeros.xlsx')
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [4, 0])
    const posted = (await postedTo(accountID)).slice(before)
    assert.deepEqual(
      posted.map(({ amount, comment }: { amount: number; comment: string }) => [amount, comment]),
      ['012345678', '062-000', '1234-567', '12.5'].map((comment) => [100, comment]),
    )
  })

  it('has texts without their pronunciation, which stands beside them', async () => {
    const { accountID } = fund.accounts[0]!
    const comment = { inline: '\u6771\u4eac', spoken: '\u30c8\u30a6\u30ad\u30e7\u30a6' }
    const book = await workbook([bookHead, row(accountID, 46_031, comment)])
    const end = await imported(service.admin, terms, book, 'spoken.xlsx')
    assert.equal(end.rowsAccepted, 1)
    const posted = (await postedTo(accountID)).at(-1)
    assert.equal(posted.comment, comment.inline)
  })

  it('has percentages as one sees them: 2% is no 0.02', async () => {
    const { accountID } = fund.accounts[4]!
    const percents = [...bookHead.slice(0, -1), { text: 'entryFeePercentage' }]
    const book = await workbook([
      percents,
      row(accountID, 46_032, { number: '0.02', style: 'percent' }),
      row(accountID, 46_032, { number: '7.0000000000000007E-2', style: 'percent' }),
      row(accountID, 46_032, { number: '2', style: 'wide' }),
    ])
    const end = await imported(service.admin, terms, book, 'percent.xlsx')
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [1, 2])
    const [posted] = await postedTo(accountID)
    assert.equal(posted.entryFeeAmount, 2)
    const mapping = JSON.stringify([{ column: 'entryFeePercentage', field: 'comment' }])
    const errors = await errorsOf(service.admin, end)
    await imported(service.admin, { ...terms, mapping }, errors, 'again.xlsx')
    const comments = (await postedTo(accountID)).map(({ comment }: { comment: string }) => comment)
    assert.deepEqual(comments, [null, '2%', '7%'])
  })

  it('that was cut short is told to be none', async () => {
    const start = await feedEnd(service.admin)
    const book = await workbook([bookHead, row(fund.accounts[1]!.accountID, 46_032, null)])
    const end = await imported(service.admin, terms, book.subarray(0, -40), 'cut.xlsx')
    assert.equal(end.status, 'Failed')
    assert.match(end.message, /not a workbook/)
    const [told] = await eventsAfter(service.admin, start, 1, { Type: 'import.failed' })
    assert.deepEqual(told!.ids, [end.importID])
  })
})

describe('A file of CSV', () => {
  it('with the mark is UTF-8, whatever is said: so refused rows are sent again', async () => {
    const { accountID } = fund.accounts[2]!
    const comment = 'Caf\u00e9 M\u00fcller'
    const text = lines(head, deposit(accountID, comment).with(5, 'much'))
    const said = { ...terms, encoding: 'Windows-1252' }
    const end = await imported(service.admin, said, Buffer.from(text, 'latin1'))
    assert.equal(end.rowsRefused, 1)
    const mended = (await errorsOf(service.admin, end)).toString().replace('much', '100')
    const again = await imported(service.admin, said, mended)
    assert.deepEqual([again.rowsAccepted, again.unknownColumns], [1, []])
    const [posted] = await postedTo(accountID)
    assert.equal(posted.comment, comment)
  })

  it('has lines that end in several ways, as those of files put together do', async () => {
    const { accountID } = fund.accounts[5]!
    const comments = ['one', '"two\r\nlines"', 'three', 'four', '"and\nfive"']
    const rows = [head, ...comments.map((comment) => deposit(accountID, comment))]
    const lineWith = (end: string) => (cells: (string | number)[]) => `${cells.join(',')}${end}`
    const ends = (...all: string[]) => rows.map((cells, i) => lineWith(all[i % all.length]!)(cells))
    for (const text of [ends('\r\n', '\n'), ends('\n', '\r\n'), ends('\r\n'), ends('\r')]) {
      const end = await imported(service.admin, terms, text.join(''))
      assert.deepEqual([end.rowsRead, end.rowsAccepted], [5, 5], JSON.stringify(text))
    }
    const expected = ['one', 'two\r\nlines', 'three', 'four', 'and\nfive']
    const seen = (await postedTo(accountID)).map((posted: { comment: string }) => posted.comment)
    assert.deepEqual(seen, Array(4).fill(expected).flat())
  })

  it('keeps rows that begin with # in quotes, wherever they stand, and skips notes', async () => {
    const { accountID } = fund.accounts[3]!
    const [first, ...others] = head.toReversed()
    const row = (comment: string) => [comment, ...deposit(accountID, '').toReversed().slice(1)]
    const notes = Array.from({ length: 300 }, (_, i) => [`# note ${i} ${'.'.repeat(i)}`])
    const rows = notes.flatMap((note, i) => [note, row(`"#${i} of all"`), row(`${i}`)])
    const end = await imported(service.admin, terms, lines([first!, ...others], ...rows))
    assert.deepEqual([end.rowsRead, end.rowsAccepted], [600, 600])
    const posted = await postedTo(accountID)
    const told = posted.map(({ comment }: { comment: string }) => comment)
    assert.deepEqual(told.slice(0, 4), ['#0 of all', '0', '#1 of all', '1'])
    assert.equal(told.filter((comment: string) => /^#\d+ of all$/.test(comment)).length, 300)
  })

  it('keeps a head that begins with # in quotes, with and without the mark of UTF-8', async () => {
    const { accountID } = fund.accounts[3]!
    const text = lines(['"# paid"', ...head], ['5', ...deposit(accountID, 'under a head')])
    for (const mark of ['', '\ufeff']) {
      const end = await imported(service.admin, terms, Buffer.from(mark + text))
      assert.deepEqual([end.rowsAccepted, end.rowsRefused], [1, 0], JSON.stringify(mark))
      assert.deepEqual(end.unknownColumns, ['# paid'])
    }
  })

  it('is refused where a note has an open quote, which would swallow rows in silence', async () => {
    const { accountID } = fund.accounts[3]!
    const before = (await postedTo(accountID)).length
    const rows = [deposit(accountID, 'one'), deposit(accountID, '"two"'), deposit(accountID, 'x')]
    const text = lines(head, ['# paid', '"by cheque'], ...rows)
    for (const mode of ['validate', 'atomic', 'continue']) {
      const end = await imported(service.admin, { ...terms, mode }, text)
      assert.deepEqual([end.status, end.rowsAccepted], ['Failed', 0], mode)
      assert.match(end.message, /The note of line 2 has a quote that is open .* 2 more lines/)
    }
    assert.equal((await postedTo(accountID)).length, before)
    const closed = lines(head, ['# paid', '"by cheque"'], ...rows)
    const end = await imported(service.admin, terms, closed)
    assert.deepEqual([end.status, end.rowsAccepted], ['Completed', 3])
  })

  it('has a row that begins with a formula without a value: it is no note', async () => {
    const { accountID } = fund.accounts[3]!
    const heads = head.toReversed()
    const row = (comment: string) => [comment, ...deposit(accountID, '').toReversed().slice(1)]
    const text = lines(heads, row('#N/A'), row(' #REF!'), row('# a note'), row('a row'))
    const end = await imported(service.admin, terms, text)
    assert.deepEqual([end.rowsRead, end.rowsAccepted, end.rowsRefused], [3, 1, 2])
    assert.match(
      (await errorsOf(service.admin, end)).toString(),
      /\n2,comment,.*#N\/A.*\r\n3,comment,/,
    )
  })

  it('that breaks off tells how far its rows are done, and has the refused ones', async () => {
    const { accountID } = fund.accounts[4]!
    const rows = Array.from({ length: 4000 }, (_, i) =>
      deposit(accountID, `${i}`).with(5, i === 7 ? 'much' : 1),
    )
    const good = lines(head, ...rows)
    const broken = Buffer.concat([Buffer.from(good), Buffer.from([0xff])])
    const end = await imported(service.admin, terms, broken)
    assert.equal(end.status, 'Failed')
    const [, line] = /not UTF-8.* The rows up to line (\d+) are done: /.exec(end.message) ?? []
    assert.equal(end.rowsRead, Number(line) - 1)
    assert.ok(end.rowsRead > 0 && end.rowsRead < 4000, line)
    const rest = [head.join(','), ...good.split('\n').slice(Number(line))].join('\n')
    const mended = (await errorsOf(service.admin, end)).toString().replace('much', '1')
    const sent = [
      await imported(service.admin, terms, rest),
      await imported(service.admin, terms, mended),
    ]
    assert.deepEqual(
      sent.map(({ rowsAccepted }) => rowsAccepted),
      [4000 - end.rowsRead, 1],
    )
    assert.equal(end.rowsAccepted, end.rowsRead - 1)
  })

  it('has a mapping of hundreds of columns, by a form as by JSON', async () => {
    const columns = Array.from({ length: 400 }, (_, i) => `Column ${i} of a wide table`)
    const wide = lines(columns, ['Deposit', ...columns.slice(1)])
    const mapping = JSON.stringify([
      { column: columns[0], field: 'operation' },
      ...columns.slice(1).map((column) => ({ column })),
    ])
    const end = await imported(service.admin, { ...terms, mode: 'validate', mapping }, wide)
    assert.deepEqual([end.status, end.rowsRead, end.unknownColumns], ['Completed', 1, []])
    const long = { ...terms, mapping: JSON.stringify([{ column: 'x'.repeat(300_000) }]) }
    refused(await sendFile(service.admin, long, wide), 400, 'too_long')
  })

  it('of payments tells of other rows by their lines', async () => {
    const { fund: paid } = await paidFund(service, [10, 20])
    const run = await newRun(service.admin, paid)
    await step(await service.userWith({ role: 'Administrator' }), 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [first, second] = await paymentsOf(service.admin, run)
    const results = lines(
      ['paymentRunID', 'reference', 'state', 'date'],
      [run.paymentRunID, first.reference, 'Paid', ''],
      [run.paymentRunID, first.reference, 'Paid', ''],
      [run.paymentRunID, 'NO SUCH', 'Paid', ''],
      [run.paymentRunID, second.reference, 'Paid', '2100-01-01'],
    )
    const ofPayments = { type: 'PaymentResults', mode: 'continue' }
    const end = await imported(service.admin, ofPayments, results)
    const told = cellsOf(await errorsOf(service.admin, end)).slice(1)
    assert.deepEqual(
      told.map(([line, field, , message]) => [line, field, message?.replace(/,.*/, '')]),
      [
        ['3', '', 'line 3 names the same payment as line 2.'],
        ['4', '', 'line 4 names no payment of this run.'],
        ['5', 'date', 'date is after today'],
      ],
    )
  })
})
