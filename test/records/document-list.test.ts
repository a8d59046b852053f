import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Fund, newFund, newProduct } from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let fund: Fund
before(async () => {
  service = await startService()
  admin = service.admin
  fund = await newFund(service)
})
after(() => service.stop())

async function create(body: object): Promise<number> {
  const reply = await admin.post('/Document', { productID: fund.productID, ...body })
  assert.equal(reply.status, 200, reply.text)
  return reply.data.documentID
}

describe('GET /Document/List', () => {
  it('gives documents of an owner, of a type and of a time, page by page', async () => {
    const list = async (query: string, client = admin) => {
      const reply = await client.get(`/Document/List?${query}`)
      assert.equal(reply.status, 200, reply.text)
      return reply.data.map(({ documentID }: { documentID: number }) => documentID)
    }
    const { productID } = await newProduct(service)
    const { bizEntityID } = fund.accounts[0]!
    const created = await admin.post('/Organisation', { name: 'Trustee Pty Ltd' })
    const { organisationID } = created.data[0]
    const ids: number[] = []
    for (const body of [
      { productID, documentTypeID: 4 },
      { productID, documentTypeID: 6 },
      { bizEntityID, documentTypeID: 4 },
      { organisationID, productID: undefined, documentTypeID: 6 },
    ])
      ids.push(await create(body))
    const [statement, other, ofEntity, ofOrganisation] = ids
    assert.deepEqual(await list(`ProductID=${productID}`), [statement, other])
    assert.deepEqual(await list(`ProductID=${productID}&DocumentTypeID=4`), [statement])
    assert.deepEqual(await list(`BizEntityID=${bizEntityID}`), [ofEntity])
    assert.deepEqual(await list(`OrganisationID=${organisationID}`), [ofOrganisation])
    const [{ createdDate }] = await rowsOf(
      service.connection,
      `select to_char(created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
         as "createdDate"
       from document where document_id = $1`,
      [statement],
    )
    const since = `CreatedDate.greaterThanOrEqual=${createdDate}`
    assert.deepEqual(await list(`ProductID=${productID}&${since}`), [statement, other])
    assert.deepEqual(await list(`ProductID=${productID}&CreatedDate.lessThan=${createdDate}`), [])
    assert.deepEqual(await list(`ProductID=${productID}&PageSize=1&PageNumber=2`), [other])
    const stranger = await service.userWith({ role: 'ReadOnly', productIDs: [fund.productID] })
    assert.deepEqual(await list(`ProductID=${productID}`, stranger), [])
  })

  it('says whose each is, which a public document does not tell everybody', async () => {
    const { bizEntityID } = fund.accounts[0]!
    const { data } = await admin.get(`/BizEntity?BizEntityID=${bizEntityID}`)
    const id = await create({ bizEntityID, documentTypeID: 4, isPublic: true })
    const [listed] = (await admin.get(`/Document/List?DocumentID=${id}`)).data
    assert.equal(listed.bizEntityName, data[0].name)
    assert.equal(listed.organisationName, null)
    const open = await service.anyone.get(`/Document?DocumentID=${id}`)
    assert.equal(open.status, 200)
    assert.ok(!open.text.includes(data[0].name), open.text)
  })
})
