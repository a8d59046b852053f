import assert from 'node:assert/strict'
import type { Client, Reply } from './client.ts'
import type { Service } from './service.ts'

/**
 * A product with at least one record of everything that the registry keeps, made through the API.
 * Every name and external id in it begins with the name of the world, so that any answer that shows
 * the world's records can be recognised. No two worlds share an external id.
 */
export type World = Awaited<ReturnType<typeof newWorld>>
// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
export type Data = any

/** Asserts that an answer is a success; returns its data, or the record of a list of one. */
export function done(reply: Reply): Data {
  assert.equal(reply.status, 200, reply.text)
  const { data } = reply
  return Array.isArray(data) && data.length === 1 ? data[0] : data
}

let made = 0

export async function newWorld({ admin, userWith }: Service, name: string) {
  /** A new name of this world, which no other record has. */
  const fresh = (what = 'x') => `${name}-${what}-${++made}`
  const post = async (path: string, body?: object, headers?: Record<string, string>) =>
    done(await admin.post(path, body, headers))
  /** Changes a record; a change that is kept until it is approved (202) counts as success, too. */
  const put = async (path: string, body: object) => {
    const { status, text, data } = await admin.put(path, body)
    if (status > 202) throw new Error(text)
    return (Array.isArray(data) ? data[0] : data) as Data
  }
  const product = await post('/Product', { name: fresh(), externalProductId: fresh('product') })
  const { productID } = product
  const investment = async () => {
    const external = { externalInvestmentId: fresh('class'), securityCode: fresh('code') }
    const one = await post('/Investment', { productID, name: fresh(), ...external })
    const price = { investmentID: one.investmentID, priceDate: '2024-01-01', price: 1.25 }
    const { investmentPriceID } = await post('/Investment/Price', price)
    return { ...one, investmentPriceID }
  }
  const owned = () => ({
    addresses: [{ externalAddressId: fresh('address'), suburb: fresh() }],
    communications: [
      { externalCommunicationId: fresh('contact'), communicationTypeID: 2, name: fresh() },
    ],
  })
  const person = () => ({ externalPersonId: fresh('person'), firstName: fresh(), ...owned() })
  const organisation = () => ({
    externalOrganisationId: fresh('organisation'),
    name: fresh(),
    associatedPersons: [{ person: person() }],
    ...owned(),
  })
  /** A body for POST /BizEntity, with everything that may be nested in it. */
  const entityInput = (more: object = {}) => ({
    name: fresh(),
    externalBizEntityId: fresh('entity'),
    bizEntityTypeID: 1,
    bizEntityStatusID: 1,
    accounts: [{ productID, externalAccountId: fresh('account'), drpTypeID: 2 }],
    ...owned(),
    paymentDetails: [{ externalPaymentDetailId: fresh('bank'), accountName: fresh() }],
    bizEntityParties: [{ person: person() }, { organisation: organisation() }],
    ...more,
  })
  const entity = (more: object = {}) => post('/BizEntity', entityInput(more))

  const first = await investment()
  const second = await investment()
  const parent = await entity()
  const holder = await entity()
  const link = {
    bizEntityID: holder.bizEntityID,
    parentBizEntityID: parent.bizEntityID,
    activeFrom: '2024-01-01',
  }
  await post('/BizEntity/Parent', link)
  const [account] = holder.accounts
  const [otherAccount] = parent.accounts

  const { investmentID } = first
  const posting = () => ({
    productID,
    investmentID,
    accountID: account.accountID,
    externalBizTransactionId: fresh('posting'),
    comment: fresh(),
    transactionDate: '2024-02-01',
    quantity: 1000,
  })
  const transaction = () => post('/BizTransaction/Allotment', posting())
  const event = () =>
    post('/BizEvent/NoticeOfDeposit', { ...posting(), quantity: null, amount: 100 })
  const distributionInput = () => ({
    productID,
    investmentID,
    externalCorporateActionId: fresh('distribution'),
    name: fresh(),
    recordDate: '2024-06-30',
    paymentDate: '2024-07-15',
    distributionAmountPerUnit: 0.05,
    drpIndicatorID: 2,
    drpPrice: 1.2,
    drpInvestmentID: investmentID,
    taxComponents: [{ taxComponentName: 'CapitalGains', percentage: 100 }],
  })
  /** Creates a distribution and runs so many of its stages. */
  const distribution = async (stages = 0) => {
    const one = await post('/Distribution', distributionInput())
    const { corporateActionID } = one
    for (const stage of ['Declare', 'Payment', 'DrpAllotment'].slice(0, stages))
      await admin
        .post(`/Distribution/${stage}`, { productID, corporateActionID, ...confirmed(stage) })
        .then(done)
    return one
  }
  /** Posts a redemption, whose money a payment run can pay. */
  const redemption = async () => {
    await transaction()
    return post('/BizTransaction/Redemption', { ...posting(), quantity: 1 })
  }
  /** Creates a payment run and takes so many steps; in the last step every payment is returned. */
  const paymentRun = async (steps = 0) => {
    await redemption()
    const one = await post('/PaymentRun', runInput({ productID }))
    const { paymentRunID } = one
    const approver = await userWith({ permissions: ['PaymentRun.Approve'] })
    const take = [
      () => approver.post('/PaymentRun/Approve', { paymentRunID }),
      () => admin.post('/PaymentRun/Sent', { paymentRunID }),
      async () => admin.post('/PaymentRun/Result', await returnedOf(admin, paymentRunID)),
    ]
    for (const step of take.slice(0, steps)) done(await step())
    return one
  }
  const documentInput = () => ({
    externalDocumentId: fresh('document'),
    documentTypeID: 1,
    name: fresh(),
    productID,
  })
  const document = async (withFile = true) => {
    const one = await post('/Document', documentInput())
    if (withFile) await upload(admin, one.documentID, fresh())
    return one
  }
  const report = (more: object = {}) =>
    post('/Report', { reportTypeID: 2, name: fresh(), format: 'json', productID, ...more })

  /** Starts an import of one row, which is refused because its price has no valid date. */
  const importing = async () => {
    const reply = await admin.post('/Import', importInput(fresh(), productID))
    assert.equal(reply.status, 202, reply.text)
    return reply.data
  }

  const transfer = await transaction()
  return {
    name,
    fresh,
    product,
    productID,
    first,
    second,
    parent,
    holder,
    account,
    otherAccount,
    link,
    transaction: transfer,
    event: await event(),
    declared: await distribution(1),
    document: await document(),
    report: await report(),
    statements: await report({ reportTypeID: 15, format: 'zip' }),
    import: await importing(),
    person: holder.bizEntityParties[0].person,
    organisation: holder.bizEntityParties[1].organisation,
    make: {
      post,
      put,
      investment,
      person,
      organisation,
      entityInput,
      entity,
      owned,
      posting,
      transaction,
      event,
      distributionInput,
      distribution,
      redemption,
      paymentRun,
      returned: (paymentRunID: number) => returnedOf(admin, paymentRunID),
      documentInput,
      document,
      report,
      importing,
    },
  }
}

const importInput = (name: string, productID: number) => ({
  type: 'Prices',
  mode: 'validate',
  productID,
  fileName: `${name}.csv`,
  content: Buffer.from(`securityCode,priceDate,price\n${name},never,1\n`).toString('base64'),
})

/** A payment run by cheque, which needs no bank account. */
export const runInput = (product: object) => ({
  ...product,
  sources: ['Redemption'],
  processingDate: '2025-07-15',
  fundingAccount: { accountName: 'Fund', remitterName: 'Fund' },
  format: 'cheque list',
})

/** A body for POST /PaymentRun/Result in which every payment of a run is returned. */
async function returnedOf(client: Client, paymentRunID: number) {
  const { data } = await client.get(`/PaymentRun/Payment?PaymentRunID=${paymentRunID}`)
  const payments = data.map(({ paymentID }: Data) => ({ paymentID, state: 'Returned' }))
  return { paymentRunID, payments }
}

/** Several distributions of a world have one record date. */
const confirmed = (stage: string) => (stage === 'Declare' ? { confirmSecond: true } : {})

const upload = async (client: Client, documentID: number, text: string) =>
  done(
    await client.post('/Document/File', {
      documentID,
      fileName: 'file.txt',
      contentType: 'text/plain',
      content: Buffer.from(text).toString('base64'),
    }),
  )

const isTelling = /(id|code|number|username|token)$/

/** Every id, code and name in an answer, with the field that tells it, in small letters. */
export function* namesIn(value: unknown): Generator<[string, string | number]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    const name = key.toLowerCase()
    if (typeof inner === 'object') yield* namesIn(inner)
    else if (isTelling.test(name) && (typeof inner === 'string' || typeof inner === 'number'))
      yield [name, inner]
  }
}
