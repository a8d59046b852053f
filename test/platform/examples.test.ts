import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { only } from '../support/ledger.ts'
import {
  bodyOf,
  type Document,
  readDocument,
  resolved,
  type Served,
  servedBy,
} from '../support/openapi.ts'
import { adminPassword, type Service, startService } from '../support/service.ts'

let service: Service
let document: Document
let served: Served[]
before(async () => {
  service = await startService()
  document = await readDocument(service.anyone)
  served = servedBy(document)
})
after(() => service.stop())

/** Values that examples cannot know and leave to be filled in, by operation. */
const secrets: Record<string, () => Promise<object>> = {
  'POST /User/Login': async () => ({ password: adminPassword }),
  'POST /User/RefreshToken': async () => {
    const credentials = { username: 'admin', password: adminPassword }
    const { data } = await service.anyone.post('/User/Login', credentials)
    return { refreshToken: data.refreshToken }
  },
  'PUT /User/Password': async () => ({ currentPassword: adminPassword }),
}

/** Records that an example needs and that no example makes, by operation. */
const needed: Record<string, [path: string, body: object][]> = {
  'POST /BizEntity/Parent': [
    [
      '/BizEntity',
      {
        name: 'Bo',
        externalBizEntityId: 'ENT-2',
        bizEntityTypeID: 1,
        bizEntityStatusID: 1,
        accounts: [{ productID: 1, externalAccountId: 'ACC-2' }],
        bizEntityParties: [{ person: { firstName: 'Bo' } }],
      },
    ],
  ],
  'POST /BizTransaction/Deposit': [
    ['/Investment', { productID: 1, securityCode: 'GRB', name: 'Class B' }],
    ['/Investment/Price', { investmentID: 2, priceDate: '2026-06-30', price: 1 }],
  ],
}

/** The order of the examples: each finds the records that earlier examples have made. */
const order = `
  POST /User/Login, POST /User/RefreshToken, POST /Product, PUT /Product, POST /User, PUT /User,
  POST /Investment, PUT /Investment, POST /Investment/Price, PUT /Investment/Price,
  POST /BizEntity, PUT /BizEntity, POST /Address, PUT /Address, POST /Communication,
  PUT /Communication, POST /PaymentDetail, PUT /PaymentDetail, POST /Person, PUT /Person,
  POST /Organisation, PUT /Organisation, POST /BizEntity/Parent, PUT /BizEntity/Parent,
  POST /BizTransaction/Deposit, PUT /BizTransaction, PUT /BizTransaction/Rollback,
  POST /BizTransaction/Allotment, POST /BizTransaction/SetQuantity,
  POST /BizTransaction/Redemption, POST /BizTransaction/Conversion,
  POST /BizTransaction/Adjustment, POST /BizTransaction/Transfer,
  POST /BizEvent/NoticeOfDeposit, POST /BizEvent/NoticeOfRedemption,
  POST /BizEvent/NoticeOfConversion, PUT /BizEvent/Cancel, POST /Distribution, PUT /Distribution,
  POST /Distribution/Preview, POST /Distribution/Declare, POST /Distribution/Payment,
  POST /Distribution/Reverse, POST /Distribution/Payment, POST /Distribution/DrpAllotment,
  POST /Document, PUT /Document, POST /Document/File,
  PUT /Document/File, POST /Report,
  POST /Webhook, PUT /Webhook, POST /Webhook/RotateSecret, POST /Webhook/Test,
  POST /Webhook/Replay, POST /Import, PUT /User/Password`
  .split(',')
  .map((name) => name.trim())

describe('The examples of the document', () => {
  it('are accepted as they stand, one after the other, by an empty registry', async () => {
    const bodied = served.filter(({ operation }) => bodyOf(operation))
    const byName = new Map(bodied.map((one) => [one.name, one]))
    const failed: string[] = []
    for (const name of order) {
      const { method, path, operation } = byName.get(name)!
      for (const [where, body] of needed[name] ?? []) only(await service.admin.post(where, body))
      const body = bodyOf(operation)!
      const { example } = resolved(document, body.oneOf?.[0] ?? body)
      const sent = { ...(example as object), ...(await secrets[name]?.()) }
      const reply = await service.admin.call(method, path, sent)
      if (![200, 202].includes(reply.status))
        failed.push(`${name} ${JSON.stringify(sent)}: ${reply.text}`)
    }
    assert.deepEqual(failed, [])
  })
})
