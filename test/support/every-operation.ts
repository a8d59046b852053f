import { type Ask, type Asking, ask, type Carried, find, one, type Walk } from './walk.ts'
import { approvals, users } from './walk-access.ts'

export type { Ask, Carried }

/**
 * The statuses that count as success. An import is accepted (202), and may have ended before it is
 * cancelled (409); a bank account may be kept until it is approved (202).
 */
export const rightStatus = ({ operation }: Ask) => statuses[operation] ?? [200]
const statuses: Record<string, number[]> = {
  'POST /Import': [202],
  'DELETE /Import': [200, 409],
  'POST /PaymentDetail': [200, 202],
}

/**
 * A walk through every operation, each with a request that must succeed. The generator yields a
 * request and is given the answer; the caller sends it, and may send other requests before and
 * after it (see secrets.test.ts).
 */
export function* everyOperation(carried: Carried): Walk {
  yield find('GET /Common/Lookup', { Category: 'Currency' })
  yield find('GET /Common/HealthCheck')
  yield* users(carried)
  const fund = yield* products(carried)
  yield* persons(carried)
  yield* organisations(carried)
  const entities = yield* investors(carried, fund)
  yield* owned(carried, entities)
  yield* ledger(carried, fund, entities)
  const distribution = yield* distributions(carried, fund)
  yield* paymentRuns(carried, fund)
  yield* taxes(entities)
  yield* documents(carried, fund)
  yield* reports({ ...fund, ...entities, ...distribution })
  yield* imports(carried, fund)
  yield* approvals(carried, entities)
  yield* webhooks()
  yield find('GET /Event', { PageSize: 1000 })
  yield find('GET /Search', { Text: 'example' })
  yield find('GET /Audit', { PageSize: 1000 })
  yield find('GET /Audit/Seal')
  yield find('GET /Audit/Verify')
}

function* taxes({ accountID }: Entities): Walk {
  const rate = {
    rule: 'NonResident',
    incomeKind: 'Royalty',
    countryCode: 'USA',
    percentage: 5,
    rounding: 'Cent',
    validFrom: '2020-01-01',
  }
  const { rateID } = one(yield ask('POST /WithholdingRate', rate))
  yield ask('PUT /WithholdingRate', { rateID, ...rate, validTo: '2030-12-31' })
  yield find('GET /WithholdingRate', { RateID: rateID })
  yield find('DELETE /WithholdingRate', { RateID: rateID })
  yield find('GET /BizEntity/Account/TaxStanding', { AccountID: accountID })
}

/** One import with a refused row, and one that is cancelled unless it has already ended. */
function* imports({ name }: Carried, { productID }: Fund): Walk {
  const content = Buffer.from(`securityCode,priceDate,price\n${name},never,1\n`)
  const input = { type: 'Prices', mode: 'validate', productID, fileName: 'prices.csv' }
  const order = { ...input, content: content.toString('base64') }
  const { importID } = one(yield ask('POST /Import', order))
  for (let status = ''; status !== 'Completed'; )
    status = one(yield find('GET /Import', { ImportID: importID })).status
  yield find('GET /Import/File', { ImportID: importID, Result: 'errors' })
  yield find('GET /Import/Template', { Type: 'Investors' })
  const next = one(yield ask('POST /Import', order))
  yield find('DELETE /Import', { ImportID: next.importID })
}

function* webhooks(): Walk {
  const { webhookID } = one(yield ask('POST /Webhook', { url: 'https://example.com/hook' }))
  yield ask('PUT /Webhook', { webhookID, description: 'Copies' })
  yield ask('POST /Webhook/RotateSecret', { webhookID })
  yield ask('POST /Webhook/Test', { webhookID })
  yield ask('POST /Webhook/Replay', { webhookID, eventIDs: [1] })
  yield find('GET /Webhook')
  yield find('GET /Webhook/Delivery', { WebhookID: webhookID })
  yield find('DELETE /Webhook', { WebhookID: webhookID })
}

type Fund = { productID: number; investmentID: number; targetID: number }

function* products({ name }: Carried): Asking<Fund> {
  const product = { name, externalProductId: 'FUND' }
  const { productID } = one(yield ask('POST /Product', product))
  yield ask('PUT /Product', { productID, ...product, description: 'A fund', isActive: true })
  yield find('GET /Product')
  const other = one(yield ask('POST /Product', { name: 'Gone', externalProductId: 'GONE' }))
  yield find('DELETE /Product', { ProductID: other.productID })
  const ids: number[] = []
  for (const securityCode of [name, 'TWO', 'GONE']) {
    const investment = { productID, securityCode, name, externalInvestmentId: securityCode }
    ids.push(one(yield ask('POST /Investment', investment)).investmentID)
  }
  const [investmentID, targetID, goneID] = ids as [number, number, number]
  yield ask('PUT /Investment', { investmentID, securityCode: name, name, isActive: true })
  yield find('GET /Investment', { ProductID: productID })
  yield find('DELETE /Investment', { InvestmentID: goneID })
  const prices: number[] = []
  for (const id of [investmentID, targetID, targetID]) {
    const price = { investmentID: id, priceDate: `2025-01-0${prices.length + 1}`, price: 1 }
    prices.push(one(yield ask('POST /Investment/Price', price)).investmentPriceID)
  }
  yield ask('PUT /Investment/Price', { investmentPriceID: prices[1], price: 1.25 })
  yield find('GET /Investment/Price', { InvestmentID: investmentID })
  yield find('GET /Investment/Price/Affected', { InvestmentPriceID: prices[1]! })
  yield find('DELETE /Investment/Price', { InvestmentPriceID: prices[2]! })
  return { productID, investmentID, targetID }
}

const taxed = ({ taxFileNumbers, tins }: Carried, which: number) => ({
  taxationFileNumber: taxFileNumbers[which % taxFileNumbers.length],
  tin: tins[which % tins.length],
})
const personOf = (carried: Carried, which: number) => ({
  ...taxed(carried, which),
  firstName: 'Ann',
  lastName: carried.name,
  taxationCountryTIN: carried.tins[0],
  taxationCountryTIN2: carried.tins[1],
  taxationCountryTIN3: carried.tins[2],
})

function* persons(carried: Carried): Walk {
  const person = { externalPersonId: 'ANN', ...personOf(carried, 0) }
  const { personID } = one(yield ask('POST /Person', person))
  yield ask('PUT /Person', { personID, ...person, ...personOf(carried, 1) })
  yield find('GET /Person', { PersonID: personID })
  const other = one(yield ask('POST /Person', { externalPersonId: 'GONE', firstName: 'Bo' }))
  yield find('DELETE /Person', { PersonID: other.personID })
}

function* organisations(carried: Carried): Walk {
  const own = { externalOrganisationId: 'ORG', name: carried.name }
  const { organisationID } = one(yield ask('POST /Organisation', { ...own, ...taxed(carried, 2) }))
  yield ask('PUT /Organisation', { organisationID, ...own, ...taxed(carried, 3) })
  yield find('GET /Organisation')
  const gone = { externalOrganisationId: 'GONE', ...taxed(carried, 0) }
  const other = one(yield ask('POST /Organisation', gone))
  yield find('DELETE /Organisation', { OrganisationID: other.organisationID })
}

type Entities = { bizEntityID: number; otherID: number; accountID: number; toAccountID: number }

function* investors(carried: Carried, { productID }: Fund): Asking<Entities> {
  const { name, bankAccounts } = carried
  const entityOf = (id: string) => ({
    externalBizEntityId: id,
    name,
    bizEntityTypeID: 1,
    bizEntityStatusID: 1,
    accounts: [{ productID, externalAccountId: id, drpTypeID: 3, drpValue: 50 }],
    paymentDetails: [
      { bsb: '062-000', accountNumber: bankAccounts.number, isForDistribution: true },
    ],
    bizEntityParties: [
      { person: { externalPersonId: `P-${id}`, ...personOf(carried, 2) } },
      { organisation: { externalOrganisationId: `O-${id}`, ...taxed(carried, 1) } },
    ],
  })
  const made = []
  for (const id of ['HOLDER', 'OTHER', 'GONE'])
    made.push(one(yield ask('POST /BizEntity', entityOf(id))))
  const [holder, other, gone] = made
  const { bizEntityID } = holder
  const { paymentDetails, bizEntityParties } = entityOf('HOLDER')
  yield ask('PUT /BizEntity', { ...holder, paymentDetails, bizEntityParties })
  yield find('GET /BizEntity', { BizEntityID: bizEntityID })
  yield find('GET /BizEntity/History', { BizEntityID: bizEntityID })
  yield find('DELETE /BizEntity', { BizEntityID: gone.bizEntityID })
  const link = { bizEntityID: other.bizEntityID, parentBizEntityID: bizEntityID }
  yield ask('POST /BizEntity/Parent', { ...link, activeFrom: '2025-01-01' })
  yield ask('PUT /BizEntity/Parent', { ...link, activeFrom: '2025-01-01', activeTo: '2030-01-01' })
  yield find('GET /BizEntity/Parent', { BizEntityID: other.bizEntityID })
  yield find('DELETE /BizEntity/Parent', {
    BizEntityID: other.bizEntityID,
    ParentBizEntityID: bizEntityID,
    ActiveFrom: '2025-01-01',
  })
  const accountOf = (entity: { accounts: { accountID: number }[] }) => entity.accounts[0]!.accountID
  const [accountID, toAccountID] = [accountOf(holder), accountOf(other)]
  return { bizEntityID, otherID: other.bizEntityID, accountID, toAccountID }
}

function* owned({ name, bankAccounts }: Carried, { bizEntityID }: Entities): Walk {
  const address = { externalAddressId: 'ADR', addressLine: `1 ${name} Street`, bizEntityID }
  const { addressID } = one(yield ask('POST /Address', address))
  yield ask('PUT /Address', { addressID, ...address, suburb: 'Sydney' })
  yield find('GET /Address', { AddressID: addressID })
  yield find('DELETE /Address', { AddressID: addressID })
  const contact = { externalCommunicationId: 'COM', communicationTypeID: 2, name, bizEntityID }
  const { communicationID } = one(yield ask('POST /Communication', contact))
  yield ask('PUT /Communication', { communicationID, ...contact, communicationTypeID: 3 })
  yield find('GET /Communication')
  yield find('DELETE /Communication', { CommunicationID: communicationID })
  const bank = {
    externalPaymentDetailId: 'PAY',
    bizEntityID,
    accountNumber: bankAccounts.number,
    intermediaryBankAccountNumber: bankAccounts.other,
    iban: bankAccounts.iban,
  }
  const { paymentDetailID } = one(yield ask('POST /PaymentDetail', bank))
  yield ask('PUT /PaymentDetail', { paymentDetailID, ...bank, accountNumber: bankAccounts.other })
  yield find('GET /PaymentDetail')
  yield find('DELETE /PaymentDetail', { PaymentDetailID: paymentDetailID })
}

function* ledger(carried: Carried, fund: Fund, entities: Entities): Walk {
  const { accountID, toAccountID } = entities
  const { productID, investmentID, targetID } = fund
  const when = { transactionDate: '2025-02-01', productID }
  const posting = { ...when, accountID, investmentID }
  const post = (kind: string, body: object) => ask(`POST /BizTransaction/${kind}`, body)
  yield post('Deposit', { ...posting, amount: 1000, externalBizTransactionId: 'DEP' })
  const { bizTransactionID } = one(yield post('Allotment', { ...posting, quantity: 500 }))
  yield ask('PUT /BizTransaction', { bizTransactionID, comment: 'Changed' })
  yield post('Redemption', { ...posting, quantity: 100 })
  yield post('Adjustment', { ...posting, quantity: 10 })
  yield post('SetQuantity', { ...posting, quantity: 1400 })
  const classes = { fromInvestmentID: investmentID, toInvestmentID: targetID }
  const conversion = { ...when, accountID, ...classes, quantity: 100, conversionMethod: 'Price' }
  yield post('Conversion', conversion)
  const accounts = { fromAccountID: accountID, toAccountID }
  const moved = one(yield post('Transfer', { ...when, investmentID, ...accounts, quantity: 300 }))
  const again = { ...when, investmentID, ...accounts, quantity: 50 }
  const undone = one(yield post('Transfer', again))
  yield ask('PUT /BizTransaction/Rollback', { bizTransactionID: undone.bizTransactionID })
  yield find('GET /BizTransaction', { ProductID: productID, 'AccountID.equal': moved.accountID })
  yield find('GET /BizEntity/Account/Holdings', { ProductID: productID })
  const position = { AccountID: accountID, InvestmentID: investmentID }
  yield find('GET /BizEntity/Account/Holdings/Explain', position)
  yield find('GET /BizEntity/Account/Holdings/Months', { ProductID: productID })
  yield* notices(carried, fund, accountID)
  const { holdID } = one(yield ask('POST /Hold', { ...held(posting), reason: carried.name }))
  yield ask('PUT /Hold', { holdID, quantity: 2 })
  yield find('GET /Hold', { AccountID: accountID })
  yield find('DELETE /Hold', { HoldID: holdID })
}

const held = ({ accountID, investmentID }: { accountID: number; investmentID: number }) => ({
  ...{ accountID, investmentID, quantity: 1 },
})

function* notices({ bankAccounts }: Carried, fund: Fund, accountID: number): Walk {
  const { productID, investmentID, targetID } = fund
  const common = { productID, accountID, transactionDate: '2025-02-02' }
  const deposit = { ...common, investmentID, amount: 100, externalBizTransactionId: 'NOT' }
  const paid = { chequeAccountNumber: bankAccounts.cheque, chequeBankName: 'A bank' }
  const { bizEventID } = one(yield ask('POST /BizEvent/NoticeOfDeposit', { ...deposit, ...paid }))
  yield ask('POST /BizEvent/NoticeOfRedemption', { ...common, investmentID, quantity: 10 })
  const classes = { fromInvestmentID: investmentID, toInvestmentID: targetID }
  const conversion = { ...common, ...classes, quantity: 10, conversionMethod: 'Price' }
  yield ask('POST /BizEvent/NoticeOfConversion', conversion)
  yield find('GET /BizEvent')
  yield ask('PUT /BizEvent/Cancel', { bizEventID, comment: 'Dishonoured' })
}

function* distributions({ name }: Carried, fund: Fund): Asking<{ corporateActionID: number }> {
  const { productID, investmentID, targetID } = fund
  const configured = (externalCorporateActionId: string) => ({
    ...{ productID, investmentID, externalCorporateActionId, name },
    ...{ recordDate: '2025-06-30', paymentDate: '2025-07-15', distributionAmountPerUnit: 0.5 },
    ...{ drpIndicatorID: 2, drpInvestmentID: targetID, drpPrice: 1.25 },
    taxComponents: [{ taxComponentName: 'CapitalGains', percentage: 100 }],
  })
  const { corporateActionID } = one(yield ask('POST /Distribution', configured('DIST')))
  const key = { productID, corporateActionID }
  yield ask('PUT /Distribution', { ...configured('DIST'), corporateActionID })
  yield find('GET /Distribution', { ProductID: productID })
  for (const stage of ['Preview', 'Declare', 'Payment', 'DrpAllotment'])
    yield ask(`POST /Distribution/${stage}`, key)
  yield find('GET /Distribution/Account', { ProductID: productID })
  const ids = { ProductID: productID, CorporateActionID: corporateActionID }
  yield find('GET /Distribution/Exceptions', ids)
  yield ask('POST /Distribution/Reverse', { ...key, fromStatusID: 4, reason: name })
  yield ask('POST /Distribution/PayResiduals', { productID, investmentID, date: '2025-07-15' })
  const other = one(yield ask('POST /Distribution', configured('GONE')))
  yield find('DELETE /Distribution', {
    ProductID: productID,
    CorporateActionID: other.corporateActionID,
  })
  return { corporateActionID }
}

/** One user makes a run and another approves it; returned payments are reissued or unclaimed. */
function* paymentRuns({ passwords }: Carried, { productID }: Fund): Walk {
  const password = passwords.user
  yield ask('POST /User', { username: 'approver', role: 'Administrator', password })
  const signedIn = yield ask('POST /User/Login', { username: 'approver', password })
  const headers = { Authorization: signedIn.data.accessToken }
  const input = {
    ...{ productID, sources: ['Distribution', 'Redemption'], processingDate: '2025-07-15' },
    ...{ fundingAccount: { accountName: 'Fund', remitterName: 'Fund' }, format: 'cheque list' },
  }
  const draft = one(yield ask('POST /PaymentRun', input))
  yield find('DELETE /PaymentRun', { PaymentRunID: draft.paymentRunID })
  const { paymentRunID } = one(yield ask('POST /PaymentRun', input))
  const run = { paymentRunID }
  yield find('GET /PaymentRun', { PaymentRunID: paymentRunID })
  const paid = (yield find('GET /PaymentRun/Payment', { PaymentRunID: paymentRunID })).data
  yield ask('POST /PaymentRun/Approve', run, { headers })
  yield find('GET /PaymentRun/File', { PaymentRunID: paymentRunID })
  yield ask('POST /PaymentRun/Sent', run)
  const payments = paid.map(({ paymentID }: { paymentID: number }) => ({
    paymentID,
    state: 'Returned',
  }))
  yield ask('POST /PaymentRun/Result', { ...run, payments })
  const again = one(yield ask('POST /PaymentRun/Reissue', run))
  yield find('DELETE /PaymentRun', { PaymentRunID: again.paymentRunID })
  yield ask('POST /PaymentRun/Unclaimed', { ...run, days: 0 })
}

function* documents({ name, passwords }: Carried, { productID }: Fund): Walk {
  const [first, second] = passwords.document as [string, string]
  const about = { externalDocumentId: 'DOC', documentTypeID: 1, productID, name }
  const { documentID } = one(yield ask('POST /Document', { ...about, password: first }))
  yield ask('PUT /Document', { documentID, ...about, password: second })
  yield find('GET /Document', { DocumentID: documentID })
  yield find('GET /Document/List')
  const file = { documentID, fileName: 'a.txt', content: 'SGVsbG8=' }
  yield ask('POST /Document/File', file)
  yield ask('PUT /Document/File', { ...file, content: 'SGVsbG8h' })
  const headers = { 'X-Document-Password': second }
  yield ask('GET /Document/File', undefined, { query: { DocumentID: documentID }, headers })
  yield find('DELETE /Document', { DocumentID: documentID })
}

/** The first seven report types in all four formats, and the statements of type 15 as a zip. */
function* reports({
  bizEntityID,
  ...about
}: Fund & Entities & { corporateActionID: number }): Walk {
  const { productID, corporateActionID } = about
  const ids: number[] = []
  for (const reportTypeID of [1, 2, 3, 4, 5, 6, 7])
    for (const format of ['csv', 'xlsx', 'pdf', 'json']) {
      const order = {
        ...{ reportTypeID, format, productID, name: `Report ${reportTypeID}` },
        ...(reportTypeID === 4 && { corporateActionID }),
        ...(reportTypeID === 7 && { bizEntityID }),
      }
      ids.push(one(yield ask('POST /Report', order)).reportID)
    }
  for (const ReportID of ids) {
    let status = 0
    while (status < 3) status = one(yield find('GET /Report/Status', { ReportID })).reportStatusID
    yield find('GET /Report/File', { ReportID })
  }
  const letters = { reportTypeID: 15, format: 'zip', productID }
  const { reportID } = one(yield ask('POST /Report', letters))
  let made = 0
  while (made < 3)
    made = one(yield find('GET /Report/Status', { ReportID: reportID })).reportStatusID
  yield ask('POST /Report/Send', { reportID })
  yield find('GET /Report/Delivery', { ReportID: reportID })
  yield find('GET /Report', { ProductID: productID })
  yield find('DELETE /Report', { ReportID: ids[0]! })
}
