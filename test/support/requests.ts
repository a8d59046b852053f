import { until } from './process.ts'
import { inBody, inQuery, type Names, type Requests } from './request-names.ts'
import { bankRequests, entityRequests, ownedRequests, partyRequests } from './requests-investors.ts'
import {
  distributionRequests,
  documentRequests,
  investmentRequests,
  ledgerRequests,
  paymentRunRequests,
  reportRequests,
} from './requests-ledger.ts'
import { adminPassword as password } from './service.ts'
import type { Data, World } from './world.ts'

const newPassword = 'another password for tests'

const productRequests: Requests = {
  'GET /Product': [({ product }, names) => inQuery(names.product(product))],
  'POST /Product': [({ fresh }) => inBody({ name: fresh(), externalProductId: fresh('new') })],
  'PUT /Product': [
    ({ product, fresh }, { form }) => {
      const { productID, externalProductId } = product
      return inBody({ name: fresh(), externalProductId }, form === 'native' ? { productID } : {})
    },
  ],
  'DELETE /Product': [
    async ({ make, fresh }, names) => {
      const spare = { name: fresh(), externalProductId: fresh('product') }
      return inQuery(names.product(await make.post('/Product', spare)))
    },
  ],
}

const rightsIn = ({ productID }: World) => ({
  permissions: ['Product.Read'],
  productIDs: [productID],
})

const newUser = async (world: World) => {
  const username = world.fresh('user')
  return world.make.post('/User', { username, password, ...rightsIn(world) })
}
const named = ({ userID, username }: Data, { form }: Names) =>
  form === 'native' ? { userID } : { username }

const userRequests: Requests = {
  'POST /User/Login': [
    async (world) => inBody({ username: (await newUser(world)).username, password }),
  ],
  'POST /User/RefreshToken': [
    async (world) => {
      const { username } = await newUser(world)
      const { refreshToken } = await world.make.post('/User/Login', { username, password })
      return inBody({ refreshToken })
    },
  ],
  'POST /User/Logout': [() => ({})],
  'GET /User': [async (world, names) => inQuery(named(await newUser(world), names))],
  'POST /User': [(world) => inBody({ username: world.fresh('new'), password, ...rightsIn(world) })],
  'PUT /User': [
    async (world, names) =>
      inBody(named(await newUser(world), names), rightsIn(world), { isActive: true }),
  ],
  'PUT /User/Password': [
    async (world, names) => inBody(named(await newUser(world), names), { newPassword }),
  ],
  'GET /User/Me': [() => ({})],
  'GET /User/Session': [() => ({})],
  'DELETE /User/Session': [() => inQuery({ All: true })],
  'POST /User/SecondFactor': [() => ({})],
  'POST /User/SecondFactor/Confirm': [() => inBody({ code: '123456' })],
  'DELETE /User/SecondFactor': [
    async (world) => {
      const { userID, own } = await signedIn(world)
      await world.make.post('/User/SecondFactor', undefined, own)
      return inQuery({ UserID: userID })
    },
  ],
  'GET /ApiKey': [() => ({})],
  'POST /ApiKey': [() => inBody({ name: 'Nightly', permissions: [] })],
  'DELETE /ApiKey': [
    async (world) => {
      const { own } = await signedIn(world)
      const { apiKeyID } = await world.make.post('/ApiKey', { name: 'x', permissions: [] }, own)
      return inQuery({ ApiKeyID: apiKeyID })
    },
  ],
}

/** Creates a user of the world's product, and signs in as this user. */
const signedIn = async (world: World) => {
  const { userID, username } = await newUser(world)
  const { accessToken } = await world.make.post('/User/Login', { username, password })
  return { userID, own: { Authorization: accessToken } }
}

const newWebhook = ({ make, productID, fresh }: World) =>
  make.post('/Webhook', {
    url: 'https://example.com/hook',
    productIDs: [productID],
    description: fresh(),
  })
const webhookName = async (world: World) => ({ webhookID: (await newWebhook(world)).webhookID })

const webhookRequests: Requests = {
  'GET /Webhook': [async (world) => inQuery(await webhookName(world))],
  'POST /Webhook': [
    ({ productID, fresh }) =>
      inBody({ url: 'https://example.com/', productIDs: [productID], description: fresh() }),
  ],
  'PUT /Webhook': [
    async (world) => inBody(await webhookName(world), { description: world.fresh() }),
  ],
  'DELETE /Webhook': [async (world) => inQuery(await webhookName(world))],
  'POST /Webhook/RotateSecret': [async (world) => inBody(await webhookName(world))],
  'POST /Webhook/Test': [async (world) => inBody(await webhookName(world))],
  'GET /Webhook/Delivery': [async (world) => inQuery(await webhookName(world))],
  'POST /Webhook/Replay': [async (world) => inBody(await webhookName(world), { eventIDs: [1] })],
}

const rate = {
  rule: 'NoTfn',
  incomeKind: 'Interest',
  percentage: 47,
  rounding: 'WholeDollar',
  validFrom: '1900-01-01',
  validTo: '1900-12-31',
}
/** Withholding rates belong to no product; a new registry has some that everybody can read. */
const taxRequests: Requests = {
  'GET /WithholdingRate': [() => inQuery({ rateID: 1 })],
  'POST /WithholdingRate': [() => inBody(rate)],
  'PUT /WithholdingRate': [() => inBody({ rateID: 1 }, rate, { incomeKind: 'Royalty' })],
  'DELETE /WithholdingRate': [() => inQuery({ rateID: 2 })],
  'GET /BizEntity/Account/TaxStanding': [
    ({ product, account }, names) => inQuery(names.product(product), names.account(account)),
  ],
}

const importRequests: Requests = {
  'POST /Import': [
    ({ productID, document }) =>
      inBody({ type: 'Prices', mode: 'validate', format: 'csv', productID, ...fileOf(document) }),
  ],
  'GET /Import': [({ import: { importID } }) => inQuery({ importID })],
  'GET /Import/File': [({ import: { importID } }) => inQuery({ importID, result: 'errors' })],
  'GET /Import/Template': [() => inQuery({ type: 'Prices' })],
  'DELETE /Import': [async ({ make }) => inQuery({ importID: (await make.importing()).importID })],
}
const fileOf = ({ documentID }: Data) => ({ documentID })

const newHold = ({ make, account, fresh }: World) =>
  make.post('/Hold', {
    ...{ accountID: account.accountID, all: true, reason: fresh(), validTo: '2020-01-01' },
    validFrom: '2020-01-01',
  })
const holdName = async (world: World) => ({ holdID: (await newHold(world)).holdID })

const holdRequests: Requests = {
  'GET /Hold': [async (world) => inQuery(await holdName(world))],
  'POST /Hold': [
    ({ product, first, account, fresh }, names) =>
      inBody(names.product(product), names.account(account), names.investment(first), {
        ...{ quantity: 1, reason: fresh(), validFrom: '2020-01-01', validTo: '2020-01-01' },
      }),
  ],
  'PUT /Hold': [async (world) => inBody(await holdName(world), { reason: world.fresh() })],
  'DELETE /Hold': [async (world) => inQuery(await holdName(world))],
}

/** An approval rule that holds nothing back, because it is inactive. */
const ruleIn = ({ productID }: World) => ({
  resource: 'Webhook',
  isActive: false,
  productIDs: [productID],
})
const sleepingRule = (world: World) => world.make.post('/ApprovalRule', ruleIn(world))

/** Makes a change of a new investment that waits for approval, by a rule for such changes only. */
async function waiting(world: World) {
  const { make, productID } = world
  const investment = await make.investment()
  const described = { operation: 'PUT /Investment', fields: ['description'] }
  const { approvalRuleID } = await make.post('/ApprovalRule', {
    ...described,
    productIDs: [productID],
  })
  const approvalID = await until('the rule to hold', async () => {
    const change = { ...investment, description: world.fresh() }
    return (await make.put('/Investment', change)).approvalID
  })
  await make.put('/ApprovalRule', { approvalRuleID, isActive: false })
  return { approvalID }
}

const approvalRequests: Requests = {
  'GET /ApprovalRule': [() => ({})],
  'POST /ApprovalRule': [(world) => inBody(ruleIn(world))],
  'PUT /ApprovalRule': [
    async (world) => {
      const { approvalRuleID } = await sleepingRule(world)
      return inBody({ approvalRuleID, requiredApprovals: 2 })
    },
  ],
  'DELETE /ApprovalRule': [
    async (world) => inQuery({ approvalRuleID: (await sleepingRule(world)).approvalRuleID }),
  ],
  'GET /Approval': [async (world) => inQuery(await waiting(world))],
  'POST /Approval/Approve': [async (world) => inBody(await waiting(world))],
  'POST /Approval/Reject': [
    async (world) => inBody({ ...(await waiting(world)), reason: 'Not this one.' }),
  ],
  'POST /Approval/Cancel': [async (world) => inBody(await waiting(world))],
}

/**
 * Valid requests to each operation about the records of a world. The walk through all operations
 * and callers (authorization.test.ts) is made from them. Each entry is a list with one request for
 * every kind of record that the operation can be about.
 */
export const requests: Requests = {
  'GET /Common/Lookup': [() => ({})],
  'GET /Common/HealthCheck': [() => ({})],
  ...userRequests,
  ...productRequests,
  ...entityRequests,
  ...partyRequests,
  ...ownedRequests,
  ...bankRequests,
  ...investmentRequests,
  ...ledgerRequests,
  ...distributionRequests,
  ...paymentRunRequests,
  ...taxRequests,
  ...documentRequests,
  ...reportRequests,
  ...webhookRequests,
  ...importRequests,
  'GET /Event': [({ productID }) => inQuery({ productID })],
  'GET /Search': [() => inQuery({ text: 'ann' })],
  ...approvalRequests,
  ...holdRequests,
  'GET /Audit/Seal': [() => ({})],
  'GET /Audit/Verify': [() => ({})],
  'GET /Audit': [
    ({ productID }) => inQuery({ resource: 'Product', resourceID: productID }),
    ({ transaction }) => inQuery({ resourceID: transaction.bizTransactionID }),
  ],
}
