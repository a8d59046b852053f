import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Fund, newFund, newProduct } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let fund: Fund
before(async () => {
  service = await startService()
  admin = service.admin
  fund = await newFund(service, { accounts: 2 })
})
after(() => service.stop())

let made = 0
const unique = () => `D-${++made}`
const create = async (body: object = {}, client = admin) => {
  const given = { documentTypeID: 6, productID: fund.productID, ...body }
  const reply = await client.post('/Document', given)
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}
const organisation = async () => {
  const reply = await admin.post('/Organisation', { name: 'Trustee Pty Ltd' })
  assert.equal(reply.status, 200, reply.text)
  return reply.data[0].organisationID
}
const read = (query: string, client = admin) => client.get(`/Document?${query}`)

describe('POST /Document', () => {
  it('keeps what it is given, and answers with one object', async () => {
    const { bizEntityID } = fund.accounts[0]!
    const organisationID = await organisation()
    const given = {
      externalDocumentId: unique(),
      documentTypeID: 4,
      name: 'Statement Ω',
      code: 'S-1',
      description: 'Half-year statement',
      ordinal: -5,
      productID: fund.productID,
      bizEntityID,
      organisationID,
      showInDocumentsInPortal: true,
      isPublic: true,
    }
    const reply = await admin.post('/Document', given)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.recordCount, 1)
    for (const [name, value] of Object.entries(given)) assert.equal(reply.data[name], value, name)
    assert.equal(reply.data.externalProductId, fund.externalProductId)
    assert.equal(reply.data.password, null)
    assert.equal(reply.data.fileName, null)
    const again = await read(`DocumentID=${reply.data.documentID}`)
    assert.deepEqual(again.data, reply.data)
    assert.equal(again.recordCount, 1)
  })

  it('needs a type, and something to belong to', async () => {
    const reply = await admin.post('/Document', { name: 'x' })
    refused(reply, 400, 'required')
    assert.deepEqual(fieldsOf(reply).sort(), ['bizEntityID', 'documentTypeID'])
    refused(
      await admin.post('/Document', { documentTypeID: 99, productID: fund.productID }),
      400,
      'unknown_lookup',
    )
    const nowhere = { documentTypeID: 6, productID: 0, bizEntityID: 0, organisationID: null }
    refused(await admin.post('/Document', nowhere), 400, 'required')
  })

  it('belongs to a product, an entity or an organisation, by either id', async () => {
    const organisationID = await organisation()
    const { externalProductId, accounts } = fund
    const { data } = await admin.get(`/BizEntity?BizEntityID=${accounts[0]!.bizEntityID}`)
    const { externalBizEntityId } = data[0]
    for (const owner of [{ externalProductId }, { externalBizEntityId }, { organisationID }]) {
      const reply = await admin.post('/Document', { documentTypeID: 6, ...owner })
      assert.equal(reply.status, 200, reply.text)
      for (const [name, value] of Object.entries(owner)) assert.equal(reply.data[name], value)
    }
    for (const owner of [{ externalProductId: 'none' }, { bizEntityID: 99999999 }])
      refused(await admin.post('/Document', { documentTypeID: 6, ...owner }), 404, 'not_found')
  })

  it('takes an external id once per product, and again in another', async () => {
    const other = await newProduct(service)
    const externalDocumentId = unique()
    await create({ externalDocumentId })
    refused(
      await admin.post('/Document', {
        documentTypeID: 6,
        productID: fund.productID,
        externalDocumentId,
      }),
      409,
      'duplicate',
    )
    await create({ externalDocumentId, productID: other.productID })
    const [first, second] = [fund.accounts[0]!, fund.accounts[1]!]
    const alone = { productID: null, externalDocumentId }
    await create({ ...alone, bizEntityID: first.bizEntityID })
    refused(
      await admin.post('/Document', {
        documentTypeID: 6,
        externalDocumentId,
        bizEntityID: second.bizEntityID,
      }),
      409,
      'duplicate',
    )
  })

  it('takes an external id once, however many ask at the same time', async () => {
    const externalDocumentId = unique()
    const body = { documentTypeID: 6, productID: fund.productID, externalDocumentId }
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => admin.post('/Document', body)),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
  })

  it('refuses an ordinal beyond 16 bits and texts that are too long', async () => {
    const reply = await admin.post('/Document', {
      documentTypeID: 6,
      productID: fund.productID,
      ordinal: 32768,
      name: 'x'.repeat(256),
      description: 'x'.repeat(2001),
      externalDocumentId: 'x'.repeat(51),
    })
    refused(reply, 400, 'out_of_range', 'too_long')
    assert.equal(reply.errors.length, 4)
  })

  it('never shows, keeps in clear or audits a password', async () => {
    const password = 'correct horse battery'
    const { documentID, password: shown, hasPassword } = await create({ password })
    assert.deepEqual([shown, hasPassword], [null, true])
    const rows = await rowsOf(service.connection, 'select password_hash from document')
    assert.ok(
      rows.every(({ password_hash }) => !password_hash || /^\$argon2id/.test(password_hash)),
    )
    const { text } = await admin.get(`/Audit?Resource=Document&ResourceID=${documentID}`)
    assert.match(text, /"password":"\*\*\*"/)
    assert.ok(!text.includes(password))
  })
})

describe('GET /Document', () => {
  it('needs an id of the document', async () => {
    refused(await read(''), 400, 'required')
    refused(await read(`ProductID=${fund.productID}`), 400, 'required')
    refused(await service.anyone.get('/Document'), 400, 'required')
  })

  it('finds by the external id in the product, and asks which of several is meant', async () => {
    const other = await newProduct(service)
    const externalDocumentId = unique()
    const one = await create({ externalDocumentId })
    assert.equal((await read(`ExternalDocumentId=${externalDocumentId}`)).status, 200)
    const two = await create({ externalDocumentId, productID: other.productID })
    refused(await read(`ExternalDocumentId=${externalDocumentId}`), 400, 'ambiguous')
    for (const { productID, externalProductId, documentID } of [one, two]) {
      const byID = await read(`ExternalDocumentId=${externalDocumentId}&ProductID=${productID}`)
      assert.equal(byID.data.documentID, documentID)
      const external = `ExternalProductId=${externalProductId}`
      const both = await read(`ExternalDocumentId=${externalDocumentId}&${external}`)
      assert.equal(both.data.documentID, documentID)
    }
  })

  it('holds a document to the product, entity or organisation that is asked for', async () => {
    const other = await newProduct(service)
    const [first, second] = [fund.accounts[0]!, fund.accounts[1]!]
    const { documentID } = await create({ productID: null, bizEntityID: first.bizEntityID })
    const of = (more: string) => read(`DocumentID=${documentID}&${more}`)
    assert.equal((await of(`ProductID=${fund.productID}`)).status, 200, 'through its entity')
    assert.equal((await of(`BizEntityID=${first.bizEntityID}`)).status, 200)
    const missing = await read('DocumentID=99999999')
    for (const more of [
      `ProductID=${other.productID}`,
      'ProductID=99999999',
      `BizEntityID=${second.bizEntityID}`,
      `OrganisationID=${await organisation()}`,
    ]) {
      const reply = await of(more)
      refused(reply, 404, 'not_found')
      assert.equal(reply.message!.replace(/\d+/, ''), missing.message!.replace(/\d+/, ''))
    }
  })

  it('shows a public document to anybody, and tells nothing of the others', async () => {
    const open = await create({ isPublic: true })
    const closed = await create()
    const reply = await read(`DocumentID=${open.documentID}`, service.anyone)
    assert.equal(reply.status, 200)
    assert.equal(reply.data.documentID, open.documentID)
    const other = await newProduct(service)
    const answers = await Promise.all(
      [
        `DocumentID=${closed.documentID}`,
        'DocumentID=99999999',
        `DocumentID=${open.documentID}&ProductID=${other.productID}`,
      ].map((query) => read(query, service.anyone)),
    )
    for (const answer of answers) {
      refused(answer, 401, 'unauthenticated')
      assert.equal(answer.message, answers[0]!.message)
    }
  })

  it('keeps a public document of an inactive product to those who are signed in', async () => {
    const { productID } = await newProduct(service)
    const { documentID } = await create({ productID, isPublic: true })
    assert.equal((await read(`DocumentID=${documentID}`, service.anyone)).status, 200)
    await admin.put('/Product', { productID, name: 'Closed', isActive: false })
    refused(await read(`DocumentID=${documentID}`, service.anyone), 401)
    assert.equal((await read(`DocumentID=${documentID}`)).status, 200)
  })

  it('without the permission is for public documents only', async () => {
    const nobody = await service.userWith({ permissions: ['Product.Read'] })
    const open = await create({ isPublic: true })
    const closed = await create()
    assert.equal((await read(`DocumentID=${open.documentID}`, nobody)).status, 200)
    refused(await read(`DocumentID=${closed.documentID}`, nobody), 403, 'permission_missing')
    refused(await read('DocumentID=99999999', nobody), 403, 'permission_missing')
  })

  it('refuses a token that is not valid, also for a public document', async () => {
    const { documentID } = await create({ isPublic: true })
    const reply = await read(`DocumentID=${documentID}`, {
      ...service.anyone,
      get: (path: string) => service.anyone.get(path, { Authorization: 'a.b.c' }),
    })
    refused(reply, 401, 'token_invalid')
  })
})

describe('The scope of a user', () => {
  it('holds for documents of products, of entities and of organisations', async () => {
    const theirs = await newFund(service)
    const ours = await newFund(service)
    const user = await service.userWith({ role: 'Operator', productIDs: [ours.productID] })
    const { bizEntityID } = theirs.accounts[0]!
    const hidden = [
      await create({ productID: theirs.productID }),
      await create({ productID: null, bizEntityID }),
      await create({ productID: ours.productID, bizEntityID }),
    ]
    const visible = [
      await create({ productID: ours.productID }),
      await create({ productID: null, bizEntityID: ours.accounts[0]!.bizEntityID }),
      await create({ productID: null, organisationID: await organisation() }),
    ]
    for (const { documentID } of visible)
      assert.equal((await read(`DocumentID=${documentID}`, user)).status, 200)
    for (const { documentID } of hidden) {
      refused(await read(`DocumentID=${documentID}`, user), 404)
      refused(await user.delete(`/Document?DocumentID=${documentID}`), 404)
      refused(await user.get(`/Document/File?DocumentID=${documentID}`), 404)
      const owner = { documentTypeID: 6, productID: ours.productID }
      refused(await user.put('/Document', { documentID, ...owner }), 404)
      const file = { documentID, fileName: 'a.txt', content: 'aGVsbG8=' }
      refused(await user.post('/Document/File', file), 404)
    }
    const [document] = visible
    const moved = { documentID: document.documentID, documentTypeID: 6 }
    refused(await user.put('/Document', { ...moved, productID: theirs.productID }), 404)
    refused(await user.post('/Document', { documentTypeID: 6, bizEntityID }), 404)
  })
})

describe('PUT /Document', () => {
  it('replaces everything but the file and the password', async () => {
    const { documentID, createdDate } = await create({
      externalDocumentId: unique(),
      name: 'Old',
      description: 'Old',
      ordinal: 3,
      password: 'a secret',
      isPublic: true,
    })
    const file = { documentID, fileName: 'a.txt', content: 'aGVsbG8=' }
    assert.equal((await admin.post('/Document/File', file)).status, 200)
    const reply = await admin.put('/Document', {
      documentID,
      documentTypeID: 7,
      productID: fund.productID,
      name: 'New',
      password: null,
    })
    assert.equal(reply.status, 200, reply.text)
    const [now] = reply.data
    assert.deepEqual(
      [now.name, now.documentTypeID, now.description, now.ordinal, now.externalDocumentId],
      ['New', 7, null, null, null],
    )
    assert.deepEqual([now.isPublic, now.hasPassword, now.createdDate], [false, true, createdDate])
    assert.equal(now.fileName, 'a.txt')
  })

  it('sets a new password, and takes it away when given an empty one', async () => {
    const { documentID } = await create({ password: 'first' })
    await admin.post('/Document/File', { documentID, fileName: 'a.txt', content: 'aGVsbG8=' })
    const path = `/Document/File?DocumentID=${documentID}`
    const body = { documentID, documentTypeID: 6, productID: fund.productID }
    await admin.put('/Document', { ...body, password: 'second' })
    refused(await admin.get(path, { 'X-Document-Password': 'first' }), 403, 'password_wrong')
    assert.equal((await admin.get(path, { 'X-Document-Password': 'second' })).status, 200)
    await admin.put('/Document', { ...body, password: '' })
    assert.equal((await admin.get(path)).status, 200)
  })

  it('goes by the external id in its product, and keeps the rules of POST', async () => {
    const externalDocumentId = unique()
    const { documentID } = await create({ externalDocumentId })
    const named = { externalDocumentId, documentTypeID: 6, name: 'By name' }
    const reply = await admin.put('/Document', { ...named, productID: fund.productID })
    assert.equal(reply.data[0].documentID, documentID)
    const other = await newProduct(service)
    refused(await admin.put('/Document', { ...named, productID: other.productID }), 404)
    refused(await admin.put('/Document', named), 400, 'required')
    refused(await admin.put('/Document', { documentTypeID: 6, productID: fund.productID }), 400)
    const taken = await create({ externalDocumentId: unique() })
    refused(
      await admin.put('/Document', {
        documentID,
        documentTypeID: 6,
        productID: fund.productID,
        externalDocumentId: taken.externalDocumentId,
      }),
      409,
      'duplicate',
    )
  })
})

describe('DELETE /Document', () => {
  it('removes the record with its file', async () => {
    const { documentID } = await create()
    await admin.post('/Document/File', { documentID, fileName: 'a.txt', content: 'aGVsbG8=' })
    const reply = await admin.delete(`/Document?DocumentID=${documentID}`)
    assert.deepEqual([reply.status, reply.recordCount, reply.data], [200, 0, null])
    refused(await read(`DocumentID=${documentID}`), 404)
    refused(await admin.get(`/Document/File?DocumentID=${documentID}`), 404)
    refused(await admin.delete(`/Document?DocumentID=${documentID}`), 404)
  })
})

describe('What a document belongs to', () => {
  it('is not deleted from under it, but an entity takes its own documents along', async () => {
    const { productID } = await newProduct(service)
    await create({ productID })
    refused(await admin.delete(`/Product?ProductID=${productID}`), 409, 'in_use')
    const organisationID = await organisation()
    await create({ productID: null, organisationID })
    refused(await admin.delete(`/Organisation?OrganisationID=${organisationID}`), 409, 'in_use')
    const { accounts, productID: fundID } = await newFund(service)
    const { bizEntityID } = accounts[0]!
    const own = await create({ productID: null, bizEntityID })
    const shared = await create({ productID: fundID, bizEntityID })
    const gone = await admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    assert.equal(gone.status, 200, gone.text)
    refused(await read(`DocumentID=${own.documentID}`), 404)
    assert.equal((await read(`DocumentID=${shared.documentID}`)).data.bizEntityID, null)
  })
})
