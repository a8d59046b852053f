import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { newProduct } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let productID: number
before(async () => {
  service = await startService()
  admin = service.admin
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const newDocument = async () => {
  const reply = await admin.post('/Document', { documentTypeID: 6, productID })
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}

/** Sends a form as it stands, each part with its own headers. */
const sendParts = (parts: readonly (readonly [string, string])[], path = '/Document/File') =>
  admin.post(
    path,
    parts
      .map(([head, text]) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`)
      .concat('--x--\r\n')
      .join(''),
    { 'Content-Type': 'multipart/form-data; boundary=x' },
  )

describe('A file in a form', () => {
  it('keeps its own name and type, whatever fields stand beside it', async () => {
    for (const order of ['before', 'after'] as const) {
      const { documentID } = await newDocument()
      const own = `name="file"; filename="own.pdf"\r\nContent-Type: application/pdf`
      const others = ['partname', 'parttype'].map((name) => [`name="${name}"`, 'x.exe'] as const)
      const file = [own, '%PDF-1.7'] as const
      const parts = order === 'before' ? [...others, file] : [file, ...others]
      const reply = await sendParts([['name="documentID"', String(documentID)], ...parts])
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(
        [reply.data.fileName, reply.data.contentType],
        ['own.pdf', 'application/pdf'],
        order,
      )
      assert.match(reply.message ?? '', /Ignored: partname, parttype\./)
    }
  })

  it('has texts beside it, and whatever is none is refused by its name', async () => {
    const json = (name: string) => `name="${name}"\r\nContent-Type: application/json`
    const file = ['name="file"; filename="own.csv"', 'a,b'] as const
    const terms = [
      ['name="type"', 'Prices'],
      ['name="mode"', 'validate'],
    ] as const
    const odd = '{"toString":1,"valueOf":1}'
    for (const [name, value] of [
      ['again', odd],
      ['productID', odd],
      ['productID', '[1]'],
      ['mapping', '[{"column":5}]'],
      ['fileName', odd],
    ] as const) {
      const reply = await sendParts([...terms, [json(name), value], file], '/Import')
      refused(reply, 400)
      assert.match(reply.errors[0]!.field ?? '', new RegExp(`^${name}`), reply.text)
    }
    const mapped = '[{"column":"a","field":"price"},{"column":"b","field":"priceDate"}]'
    const taken = await sendParts([...terms, [json('mapping'), mapped], file], '/Import')
    assert.equal(taken.status, 202, taken.text)
  })
})
