import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { configure, oneComponent } from '../support/distribution.ts'
import { entityOf, unique } from '../support/investors.ts'
import { all, type Fund, newFund, newInvestment, newPrice, newProduct } from '../support/ledger.ts'
import { readDocument, servedBy } from '../support/openapi.ts'
import { refused } from '../support/refused.ts'
import { adminPassword as password, type Service, startService } from '../support/service.ts'

let service: Service
let fund: Fund
before(async () => {
  service = await startService()
  fund = await newFund(service, { accounts: 1, investments: [{}] })
})
after(() => service.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
type Data = any
const { stringify } = JSON

/** The single record of an answer, in an array or not. */
function one(reply: Reply): Data {
  assert.equal(reply.status, 200, reply.text)
  return Array.isArray(reply.data) ? reply.data[0] : reply.data
}
const make = async (path: string, body: object) => one(await service.admin.post(path, body))

/** A resource: how to create a record of it, read it, and change it for the nth time. */
type Resource = {
  make: () => Promise<Data>
  query: (record: Data) => string
  change: (record: Data, n: number) => object
  deletes?: false
}

const owner = () => ({ bizEntityID: fund.accounts[0]!.bizEntityID })
const named = (record: Data, n: number) => ({ ...record, name: `Name ${n}` })
const newEntity = () => make('/BizEntity', entityOf(fund.productID))

/** Counts the withholding rates: each gets another year, because rates must not overlap. */
let rates = 0
const aRate = (year: number) => ({
  rule: 'NonResident',
  incomeKind: 'Royalty',
  countryCode: 'NZ',
  percentage: 10,
  rounding: 'Cent',
  validFrom: `${1900 + year}-01-01`,
  validTo: `${1900 + year}-12-31`,
})

const resources: Record<string, Resource> = {
  '/Product': {
    make: () => newProduct(service),
    query: ({ productID }) => `ProductID=${productID}`,
    change: named,
  },
  '/Investment': {
    make: () => newInvestment(service, fund.productID),
    query: ({ investmentID }) => `InvestmentID=${investmentID}`,
    change: named,
  },
  '/Investment/Price': {
    make: async () =>
      newPrice(
        service,
        (await newInvestment(service, fund.productID)).investmentID,
        '2024-01-01',
        1,
      ),
    query: ({ investmentPriceID }) => `InvestmentPriceID=${investmentPriceID}`,
    change: ({ investmentPriceID }, n) => ({ investmentPriceID, price: 1 + n }),
  },
  '/BizEntity': {
    make: newEntity,
    query: ({ bizEntityID }) => `BizEntityID=${bizEntityID}`,
    change: named,
  },
  '/Person': {
    make: () => make('/Person', { firstName: 'Ann' }),
    query: ({ personID }) => `PersonID=${personID}`,
    change: (record, n) => ({ ...record, firstName: `Ann ${n}` }),
  },
  '/Organisation': {
    make: () => make('/Organisation', { name: 'Trust Co' }),
    query: ({ organisationID }) => `OrganisationID=${organisationID}`,
    change: named,
  },
  '/Address': {
    make: () => make('/Address', { ...owner(), addressTypeID: 6, suburb: 'Perth' }),
    query: ({ addressID }) => `AddressID=${addressID}`,
    change: (record, n) => ({ ...record, suburb: `Suburb ${n}` }),
  },
  '/Communication': {
    make: () => make('/Communication', { ...owner(), communicationTypeID: 2, name: '1234' }),
    query: ({ communicationID }) => `CommunicationID=${communicationID}`,
    change: (record, n) => ({ ...record, name: `1234 ${n}` }),
  },
  '/PaymentDetail': {
    make: () =>
      make('/PaymentDetail', { ...owner(), paymentTypeID: 1, bsb: '062000', accountNumber: '1' }),
    query: ({ paymentDetailID }) => `PaymentDetailID=${paymentDetailID}`,
    change: (record, n) => ({ ...record, accountName: `Holder ${n}` }),
  },
  '/Distribution': {
    make: () => configure(service, fund, { distributionAmountPerUnit: 1 }),
    query: ({ productID, corporateActionID }) =>
      `ProductID=${productID}&CorporateActionID=${corporateActionID}`,
    change: ({ productID, corporateActionID }, n) => ({
      productID,
      corporateActionID,
      investmentID: fund.investmentID,
      taxComponents: oneComponent,
      distributionAmountPerUnit: 1,
      name: `Name ${n}`,
    }),
  },
  '/Document': {
    make: () =>
      make('/Document', { productID: fund.productID, documentTypeID: 1, name: unique('paper') }),
    query: ({ documentID }) => `DocumentID=${documentID}`,
    change: named,
  },
  '/BizTransaction': {
    make: () =>
      make('/BizTransaction/Allotment', {
        accountID: fund.accounts[0]!.accountID,
        investmentID: fund.investmentID,
        transactionDate: '2024-01-01',
        quantity: 5,
      }),
    query: ({ bizTransactionID }) => `BizTransactionID=${bizTransactionID}`,
    change: ({ bizTransactionID }, n) => ({ bizTransactionID, comment: `Comment ${n}` }),
    deletes: false,
  },
  '/User': {
    make: () =>
      make('/User', { username: unique('user'), password, role: 'ReadOnly', productIDs: [1] }),
    query: ({ userID }) => `UserID=${userID}`,
    change: ({ userID }, n) => ({ userID, username: unique(`user${n}`) }),
    deletes: false,
  },
  '/Hold': {
    make: () =>
      make('/Hold', { accountID: fund.accounts[0]!.accountID, all: true, reason: 'Court order' }),
    query: ({ holdID }) => `HoldID=${holdID}`,
    change: ({ holdID }, n) => ({ holdID, reason: `Court order ${n}` }),
  },
  '/ApprovalRule': {
    // Of nothing that these tests write.
    make: () => make('/ApprovalRule', { operation: 'PUT /BizEvent/Cancel' }),
    query: ({ approvalRuleID }) => `ApprovalRuleID=${approvalRuleID}`,
    change: ({ approvalRuleID }, n) => ({ approvalRuleID, requiredApprovals: 1 + n }),
  },
  '/WithholdingRate': {
    make: () => make('/WithholdingRate', aRate(++rates)),
    query: ({ rateID }) => `RateID=${rateID}`,
    change: (record, n) => ({ ...record, percentage: 10 + n }),
  },
  '/Webhook': {
    make: () => make('/Webhook', { url: 'https://example.com/hook' }),
    query: ({ webhookID }) => `WebhookID=${webhookID}`,
    change: ({ webhookID }, n) => ({ webhookID, description: `Number ${n}` }),
  },
}

/** Creates a record of a resource, and reads it as clients do. */
async function newRecord(path: string) {
  const resource = resources[path]!
  const made = await resource.make()
  const at = `${path}?${resource.query(made)}`
  const read = () => service.admin.get(at)
  const tag = async () => {
    const reply = await read()
    assert.equal(one(reply) !== undefined, true, `${at} has found nothing`)
    return reply.headers.get('etag') ?? assert.fail(`${at} has no ETag`)
  }
  const ifMatch = (etag: string) => ({ 'If-Match': etag })
  return {
    read,
    tag,
    put: async (n: number, etag: string) =>
      service.admin.put(path, resource.change(one(await read()), n), ifMatch(etag)),
    change: async (n: number) => {
      const body = resource.change(one(await read()), n)
      return (etag: string) => service.admin.put(path, body, ifMatch(etag))
    },
    remove: (etag: string) => service.admin.delete(at, ifMatch(etag)),
  }
}

const audited = async () =>
  (await rowsOf(service.connection, 'select count(*)::int as n from audit'))[0].n

for (const [path, { deletes = true }] of Object.entries(resources))
  describe(`One record of ${path}`, () => {
    it('has a strong ETag, which stays until the record is changed', async () => {
      const { tag, put } = await newRecord(path)
      const first = await tag()
      assert.match(first, /^"[\w-]{27}"$/)
      assert.equal(await tag(), first)
      assert.equal((await put(1, first)).status, 200)
      assert.notEqual(await tag(), first)
    })

    it('is not overwritten by who has read it before it was changed', async () => {
      const { read, tag, put, remove } = await newRecord(path)
      const old = await tag()
      one(await put(1, old))
      const now = (await read()).text
      const trail = await audited()
      refused(await put(2, old), 412, 'changed_meanwhile')
      if (deletes) refused(await remove(old), 412, 'changed_meanwhile')
      assert.equal((await read()).text, now)
      assert.equal(await audited(), trail)
      assert.equal((await put(3, await tag())).status, 200)
      if (deletes) assert.equal((await remove(await tag())).status, 200)
    })

    it('goes to exactly one of those who change it at once', async () => {
      const { tag, change } = await newRecord(path)
      const seen = await tag()
      const changes = await Promise.all([1, 2, 3, 4].map(change))
      const replies = await Promise.all(changes.map((send) => send(seen)))
      onlyOneOf(replies)
    })

    if (deletes)
      it('is changed or deleted, never both, by two at once', async () => {
        const { tag, change, remove } = await newRecord(path)
        const seen = await tag()
        const put = await change(1)
        onlyOneOf(await Promise.all([put(seen), remove(seen)]))
      })
  })

/** Asserts that one request succeeded, and the others were late (412, 404) or met a lock (409). */
function onlyOneOf(replies: Reply[]) {
  const [done, others] = [200, 0].map((wanted) =>
    replies.filter(({ status }) => (status === 200) === (wanted === 200)),
  )
  assert.equal(done!.length, 1, stringify(replies.map(({ text }) => text)))
  for (const { status, text } of others!) assert.ok([404, 409, 412].includes(status), text)
}

describe('If-Match', () => {
  const product = async () => {
    const { productID } = await newProduct(service)
    const at = `/Product?ProductID=${productID}`
    const etag = (await service.admin.get(at)).headers.get('etag')!
    let n = 0
    const put = (header: string) =>
      service.admin.put('/Product', { productID, name: `N ${++n}` }, { 'If-Match': header })
    return { productID, at, etag, put }
  }

  it('takes a star, and lists of which one tag is the right one', async () => {
    for (const around of [
      () => '*',
      () => ' * ',
      (tag: string) => `"other,", ${tag}`,
      (tag: string) => `${tag},"x"`,
      (tag: string) => `, W/"weak" ,${tag} ,`,
    ]) {
      const { etag, put } = await product()
      assert.equal((await put(around(etag))).status, 200, around(etag))
    }
  })

  it('is false with tags of other records, weak ones and parts of the right one', async () => {
    const { etag, put } = await product()
    for (const header of ['"other"', '""', `W/${etag}`, `"x", "y"`, `${etag.slice(0, -2)}"`])
      refused(await put(header), 412, 'changed_meanwhile')
    assert.equal((await put(etag)).status, 200)
  })

  it('that is no list of tags is 400, and nothing is written', async () => {
    const { at, etag, put } = await product()
    for (const header of ['', 'x', etag.slice(1, -1), `${etag} ${etag}`, `${etag}x`, '*, "x"', ','])
      refused(await put(header), 400, 'invalid_value')
    assert.equal((await service.admin.get(at)).headers.get('etag'), etag)
  })

  it('left out, the last one wins', async () => {
    const { productID } = await product()
    for (const name of ['One', 'Two'])
      assert.equal(one(await service.admin.put('/Product', { productID, name })).name, name)
  })

  it('is 404 for a record that is not there, or not in a product of the caller', async () => {
    const { productID, at, etag } = await product()
    const rights = { permissions: ['Product.Read', 'Product.Write'], productIDs: [fund.productID] }
    const other = await service.userWith(rights)
    for (const header of [etag, '*', '"x"']) {
      const extra = { 'If-Match': header }
      refused(await other.put('/Product', { productID, name: 'Mine' }, extra), 404, 'not_found')
      refused(await other.delete(at, extra), 404, 'not_found')
      refused(await service.admin.delete('/Product?ProductID=999999', extra), 404, 'not_found')
    }
    assert.equal((await service.admin.get(at)).headers.get('etag'), etag)
  })

  it('does not stand in the way of a request that is sent again under its key', async () => {
    const { productID, etag } = await product()
    const extra = { 'If-Match': etag, 'Idempotency-Key': unique('key') }
    const first = await service.admin.put('/Product', { productID, name: 'Once' }, extra)
    const again = await service.admin.put('/Product', { productID, name: 'Once' }, extra)
    assert.equal(again.status, 200)
    assert.equal(again.text, first.text)
  })

  it('is 400 where it cannot be heeded, rather than ignored', async () => {
    const document = await readDocument(service.anyone)
    const able = (path: string) => Object.hasOwn(resources, path)
    for (const { method, path, operation } of servedBy(document)) {
      if (method !== 'PUT' && method !== 'DELETE') continue
      const told = operation.parameters.some(({ name }) => name === 'If-Match')
      assert.equal(told, able(path), `${method} ${path}`)
      assert.equal(Boolean(operation.responses['412']), told, `${method} ${path}`)
      if (told) continue
      const body = operation.requestBody && {}
      const reply = await service.admin.call(method, path, body, { 'If-Match': '"x"' })
      refused(reply, 400, 'invalid_value')
      assert.equal(reply.errors[0]?.field, 'If-Match')
    }
  })
})

describe('An ETag', () => {
  it('is the same by whichever id the record is asked for', async () => {
    const { productID, externalProductId } = await newProduct(service)
    const tags = await Promise.all(
      [
        `ProductID=${productID}`,
        `productid=${productID}&PageSize=5`,
        `ExternalProductId=${externalProductId}`,
      ].map(async (query) => (await service.admin.get(`/Product?${query}`)).headers.get('etag')),
    )
    assert.ok(tags[0])
    assert.equal(new Set(tags).size, 1)
  })

  it('is not on lists, not even of one, nor where nothing was found', async () => {
    for (const path of ['/Product', '/Product?PageSize=1', '/Product?ProductID=999999'])
      assert.equal((await service.admin.get(path)).headers.get('etag'), null, path)
  })

  it('of an entity is moved by what is nested in it, and not by a price', async () => {
    const { bizEntityID } = owner()
    const tag = async () =>
      (await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`)).headers.get('etag')
    const balance = async () =>
      one(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`)).accounts[0].balance
    await make('/BizTransaction/Allotment', {
      accountID: fund.accounts[0]!.accountID,
      investmentID: fund.investmentID,
      transactionDate: '2024-01-01',
      quantity: 10,
    })
    const [first, worth] = [await tag(), await balance()]
    await newPrice(service, fund.investmentID, '2025-01-01', 7)
    assert.notEqual(await balance(), worth)
    assert.equal(await tag(), first)
    all(await service.admin.post('/Address', { bizEntityID, addressTypeID: 6, suburb: 'Hobart' }))
    assert.notEqual(await tag(), first)
  })

  it('of a user is not moved by signing in', async () => {
    const { userID, username } = await resources['/User']!.make()
    const tag = async () =>
      (await service.admin.get(`/User?UserID=${userID}`)).headers.get('etag') ?? assert.fail()
    const first = await tag()
    await service.anyone.signIn(username, password)
    assert.equal(await tag(), first)
  })
})
