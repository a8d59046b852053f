import { inBody, inQuery, type Names, prefixed, type Requests } from './request-names.ts'
import { type Data, runInput, type World } from './world.ts'

/** Creates an investment without prices, since one with prices cannot be deleted. */
const unpriced = ({ make, productID, fresh }: World) =>
  make.post('/Investment', {
    productID,
    name: fresh(),
    externalInvestmentId: fresh('class'),
    securityCode: fresh('code'),
  })

/** Filters by external ids need the product; with native ids it would hide the other filter. */
const within = ({ product }: World, names: Names) =>
  names.form === 'native' ? {} : names.product(product)

export const investmentRequests: Requests = {
  'GET /Investment': [
    ({ product, first }, names) => inQuery(names.product(product), names.investment(first)),
    ({ product }, names) => inQuery(names.product(product)),
  ],
  'POST /Investment': [
    ({ product, fresh }, names) => inBody(names.product(product), { name: fresh() }),
  ],
  'PUT /Investment': [
    async (world, names) =>
      inBody(within(world, names), names.investment(await unpriced(world)), {
        name: world.fresh(),
      }),
  ],
  'DELETE /Investment': [
    async (world, names) => {
      const { investmentID, externalInvestmentId } = await unpriced(world)
      // The specification does not allow SecurityCode here.
      return names.form === 'native'
        ? inQuery({ investmentID })
        : inQuery(names.product(world.product), { externalInvestmentId })
    },
  ],
  'GET /Investment/Price': [
    (world, names) => inQuery(within(world, names), names.investment(world.first)),
    ({ first }) => inQuery({ investmentPriceID: first.investmentPriceID }),
  ],
  'GET /Investment/Price/Affected': [
    ({ first }) => inQuery({ investmentPriceID: first.investmentPriceID }),
  ],
  'POST /Investment/Price': [
    async (world, names) =>
      inBody(within(world, names), names.investment(await unpriced(world)), {
        priceDate: '2024-03-01',
        price: 2,
      }),
  ],
  'PUT /Investment/Price': [
    async ({ make }) =>
      inBody({ investmentPriceID: (await make.investment()).investmentPriceID, price: 2 }),
    async (world, names) =>
      inBody(within(world, names), names.investment(await world.make.investment()), {
        priceDate: '2024-01-01',
        price: 2,
      }),
  ],
  'DELETE /Investment/Price': [
    async ({ make }) => inQuery({ investmentPriceID: (await make.investment()).investmentPriceID }),
    async (world, names) =>
      inQuery(within(world, names), names.investment(await world.make.investment()), {
        priceDate: '2024-01-01',
      }),
  ],
}

const when = { transactionDate: '2024-03-01' }
const placeOf = ({ product, account, first }: World, names: Names) => ({
  ...names.product(product),
  ...names.account(account),
  ...names.investment(first),
  ...when,
})
const conversionOf = ({ product, account, first, second, fresh }: World, names: Names) => ({
  ...names.product(product),
  ...names.account(account),
  ...prefixed('from', names.investment(first)),
  ...prefixed('to', names.investment(second)),
  comment: fresh(),
  quantity: 1,
  conversionMethod: 'Price',
  ...when,
})

const posting = (kind: string, figures: object) => ({
  [`POST /BizTransaction/${kind}`]: [
    (world: World, names: Names) =>
      inBody(placeOf(world, names), { comment: world.fresh() }, figures),
    (world: World, names: Names) => ({
      body: [{ ...placeOf(world, names), comment: world.fresh(), ...figures }],
    }),
  ],
})

export const ledgerRequests: Requests = {
  'GET /BizEvent': [
    (world, names) => inQuery(within(world, names), names.accountFilter(world.account)),
    ({ event }) => inQuery({ bizEventID: event.bizEventID }),
  ],
  'POST /BizEvent/NoticeOfDeposit': [
    (world, names) => inBody(placeOf(world, names), { amount: 1, comment: world.fresh() }),
  ],
  'POST /BizEvent/NoticeOfRedemption': [
    (world, names) => inBody(placeOf(world, names), { quantity: 1, comment: world.fresh() }),
  ],
  'POST /BizEvent/NoticeOfConversion': [(world, names) => inBody(conversionOf(world, names))],
  'PUT /BizEvent/Cancel': [
    async ({ make }) => inBody({ bizEventID: (await make.event()).bizEventID }),
    async ({ make }) =>
      inBody({
        bizEventIDs: [(await make.event()).bizEventID, (await make.event()).bizEventID],
      }),
  ],
  'GET /BizTransaction': [
    (world, names) => inQuery(within(world, names), names.accountFilter(world.account)),
    (world, names) =>
      names.form === 'code'
        ? inQuery(names.product(world.product))
        : inQuery(within(world, names), names.investment(world.first)),
    ({ transaction: { bizTransactionID, externalBizTransactionId } }, { form }) =>
      inQuery(form === 'native' ? { bizTransactionID } : { externalBizTransactionId }),
  ],
  ...posting('Allotment', { quantity: 1 }),
  ...posting('Redemption', { quantity: 1 }),
  ...posting('Adjustment', { quantity: 1 }),
  ...posting('SetQuantity', { quantity: 2_000_000 }),
  'POST /BizTransaction/Deposit': [
    (world, names) => inBody(placeOf(world, names), { amount: 1 }),
    async (world, names) => {
      const { bizEventID, externalTransactionId } = await world.make.event()
      const event = names.form === 'native' ? { bizEventID } : { externalTransactionId }
      return inBody(placeOf(world, names), event)
    },
  ],
  'POST /BizTransaction/Conversion': [(world, names) => inBody(conversionOf(world, names))],
  'POST /BizTransaction/Transfer': [
    (world, names) =>
      inBody(
        names.product(world.product),
        names.investment(world.first),
        prefixed('from', names.account(world.account)),
        prefixed('to', names.account(world.otherAccount)),
        { quantity: 1, ...when },
      ),
  ],
  'PUT /BizTransaction': [
    async (world, names) => {
      const { bizTransactionID, externalBizTransactionId } = await world.make.transaction()
      return names.form === 'native'
        ? inBody({ bizTransactionID, comment: world.fresh() })
        : inBody(names.product(world.product), { externalBizTransactionId, quantity: 2 })
    },
  ],
  'PUT /BizTransaction/Rollback': [
    async ({ make }) => inBody({ bizTransactionID: (await make.transaction()).bizTransactionID }),
    async ({ make }) =>
      inBody({
        bizTransactionIDs: [
          (await make.transaction()).bizTransactionID,
          (await make.transaction()).bizTransactionID,
        ],
      }),
  ],
}

/** The input of a distribution, with its records named in the form under test. */
const distributionOf = (world: World, names: Names, own: object) => {
  const { productID, investmentID, drpInvestmentID, externalCorporateActionId, ...rest } =
    world.make.distributionInput()
  return {
    ...rest,
    ...names.product(world.product),
    ...names.investment(world.first),
    ...prefixed('drp', names.investment(world.second)),
    ...own,
  }
}

const stage = (name: string, stages: number, more: (world: World, names: Names) => object) => ({
  [`POST /Distribution/${name}`]: [
    async (world: World, names: Names) => {
      const one = await world.make.distribution(stages)
      return inBody(within(world, names), names.distribution(one), more(world, names))
    },
  ],
})

const selected = (world: World, names: Names) => ({
  preCalculatedAccounts: [{ ...names.account(world.account), amount: 5 }],
  includeAccounts: [names.account(world.account)],
  excludeAccounts: [names.account(world.otherAccount)],
})

export const distributionRequests: Requests = {
  'GET /Distribution': [
    ({ product, declared }, names) => inQuery(names.product(product), names.distribution(declared)),
    ({ product, first }, names) =>
      inQuery(names.product(product), names.form === 'code' ? {} : names.investment(first)),
  ],
  'POST /Distribution': [
    (world, names) =>
      inBody(distributionOf(world, names, { externalCorporateActionId: world.fresh('new') })),
  ],
  'PUT /Distribution': [
    async (world, names) => {
      const one = await world.make.distribution()
      return inBody(distributionOf(world, names, names.distribution(one)))
    },
  ],
  'DELETE /Distribution': [
    async (world, names) =>
      inQuery(within(world, names), names.distribution(await world.make.distribution())),
  ],
  ...stage('Preview', 0, selected),
  ...stage('Declare', 0, (world, names) => ({ ...selected(world, names), confirmSecond: true })),
  ...stage('Payment', 1, () => ({})),
  ...stage('DrpAllotment', 2, () => ({})),
  ...stage('Reverse', 2, () => ({ fromStatusID: 3, reason: 'tried' })),
  'POST /Distribution/PayResiduals': [
    (world, names) =>
      inBody(within(world, names), names.investment(world.first), { date: '2025-07-15' }),
  ],
  'GET /Distribution/Exceptions': [
    async (world, names) => {
      await world.make.transaction() // it is dated before the record date
      return inQuery(within(world, names), names.distribution(world.declared))
    },
  ],
  'GET /Distribution/Account': [
    (world, names) =>
      inQuery(
        within(world, names),
        names.distribution(world.declared),
        names.accountFilter(world.account),
      ),
  ],
}

const runKey = (steps: number, more: object = {}) => [
  async (world: World) => {
    const { paymentRunID } = await world.make.paymentRun(steps)
    return inBody({ paymentRunID, ...more })
  },
]
const runQuery = (steps: number) => [
  async (world: World) => {
    const { paymentRunID } = await world.make.paymentRun(steps)
    return inQuery({ paymentRunID })
  },
]

export const paymentRunRequests: Requests = {
  'GET /PaymentRun': runQuery(0),
  'GET /PaymentRun/Payment': runQuery(0),
  'GET /PaymentRun/File': runQuery(1),
  'POST /PaymentRun': [
    async (world, names) => {
      await world.make.redemption()
      return inBody(runInput(names.product(world.product)))
    },
  ],
  'POST /PaymentRun/Approve': runKey(0),
  'POST /PaymentRun/Sent': runKey(1),
  'POST /PaymentRun/Result': [
    async (world) => {
      const { paymentRunID } = await world.make.paymentRun(2)
      return inBody(await world.make.returned(paymentRunID))
    },
  ],
  'POST /PaymentRun/Reissue': runKey(3),
  'POST /PaymentRun/Unclaimed': runKey(3, { days: 0 }),
  'DELETE /PaymentRun': runQuery(0),
}

const file = { fileName: 'a.txt', contentType: 'text/plain', content: 'SGVsbG8=' }
const about: ((world: World, names: Names) => object)[] = [
  ({ product }, names) => names.product(product),
  ({ holder }, names) => names.entity(holder),
  ({ organisation }, names) => names.organisation(organisation),
  ({ product, holder, organisation }, names) => ({
    ...names.product(product),
    ...names.entity(holder),
    ...names.organisation(organisation),
  }),
]
const documentOf = ({ document }: { document: Data }, world: World, names: Names) => ({
  ...within(world, names),
  ...names.document(document),
})

export const documentRequests: Requests = {
  'GET /Document': [(world, names) => inQuery(documentOf(world, world, names))],
  'GET /Document/List': about.map(
    (owner) => (world: World, names: Names) => inQuery(owner(world, names)),
  ),
  'POST /Document': about.map(
    (owner) => (world: World, names: Names) =>
      inBody({ documentTypeID: 1, name: world.fresh() }, owner(world, names)),
  ),
  'PUT /Document': [
    async (world, names) => {
      const document = await world.make.document()
      const own = { documentTypeID: 1, name: world.fresh() }
      return inBody(own, names.document(document), names.product(world.product))
    },
  ],
  'DELETE /Document': [
    async (world, names) =>
      inQuery(documentOf({ document: await world.make.document() }, world, names)),
  ],
  'POST /Document/File': [
    async (world, names) =>
      inBody(documentOf({ document: await world.make.document(false) }, world, names), file),
  ],
  'GET /Document/File': [(world, names) => inQuery(documentOf(world, world, names))],
  'PUT /Document/File': [
    async (world, names) =>
      inBody(documentOf({ document: await world.make.document() }, world, names), file),
  ],
}

export const reportRequests: Requests = {
  'POST /Report': [
    (world, names) =>
      inBody({ reportTypeID: 2 }, names.product(world.product), names.investment(world.first)),
    (world, names) =>
      inBody({ reportTypeID: 4 }, within(world, names), names.distribution(world.declared)),
    (world, names) => inBody({ reportTypeID: 7 }, names.entity(world.holder)),
    (world, names) =>
      inBody({ reportTypeID: 7 }, within(world, names), names.account(world.account)),
  ],
  'GET /Report': [
    ({ product }, names) => inQuery(names.product(product)),
    ({ report }) => inQuery({ reportID: report.reportID }),
  ],
  'GET /Report/Status': [({ report }) => inQuery({ reportID: report.reportID })],
  'GET /Report/File': [({ report }) => inQuery({ reportID: report.reportID })],
  'POST /Report/Send': [({ statements }) => inBody({ reportID: statements.reportID, again: true })],
  'GET /Report/Delivery': [({ statements }) => inQuery({ reportID: statements.reportID })],
  'DELETE /Report': [async ({ make }) => inQuery({ reportID: (await make.report()).reportID })],
}
