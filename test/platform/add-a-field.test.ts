import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { register } from 'tsx/esm/api'
import { freshDatabase } from '../support/database.ts'
import type { Service } from '../support/service.ts'

/** All resources with their own fields: the schema and the table that a new field goes into. */
const resources = [
  { room: 'catalogue/product', table: 'product' },
  { room: 'catalogue/investment', table: 'investment' },
  { room: 'access/user', table: 'app_user', after: 'username: ', as: 'requiredText' },
  { room: 'parties/biz-entity', table: 'biz_entity' },
  { room: 'parties/person', table: 'person' },
  { room: 'parties/organisation', table: 'organisation' },
  { room: 'parties/account', table: 'account', after: 'drpValue: ' },
  { room: 'parties/address', table: 'address', after: 'suburb: ' },
  { room: 'parties/communication', table: 'communication', after: 'communicationTypeID: ' },
  { room: 'parties/payment-detail', table: 'payment_detail', after: 'comments: ' },
  { room: 'money/distribution', table: 'distribution' },
  { room: 'records/document', table: 'document' },
]

const load = <T>(path: string): Promise<T> => import(pathToFileURL(join(copy, path)).href)

// The copy is TypeScript also where the tests themselves run as JavaScript made beforehand.
register()

/** A copy of the service with the two added lines for each resource. */
let copy: string
let service: Service
before(async () => {
  copy = mkdtempSync(join(tmpdir(), 'registry-field-'))
  for (const name of ['src', 'migrations', 'test', 'package.json', 'tsconfig.json'])
    cpSync(name, join(copy, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  for (const { room, after = 'description: ', as = 'text' } of resources) addLine(room, after, as)
  const columns = resources.map(({ table }) => `alter table ${table} add column nickname text;\n`)
  writeFileSync(join(copy, 'migrations/9999-nickname.sql'), columns.join(''))
  const { migrate } = await load<typeof import('../../src/platform/sql/migrate.ts')>(
    'src/platform/sql/migrate.ts',
  )
  const { startService } =
    await load<typeof import('../support/service.ts')>('test/support/service.ts')
  const connection = await freshDatabase()
  await migrate(connection)
  service = await startService({}, connection)
})
after(async () => {
  await service?.stop()
  rmSync(copy, { recursive: true })
})

/** Adds the line of a field after the first field that begins with `behind`. */
function addLine(room: string, behind: string, as: string) {
  const path = join(copy, 'src', room, 'schema.ts')
  const lines = readFileSync(path, 'utf8').split('\n')
  const place = lines.findIndex((line) => line.startsWith(`  ${behind}`))
  assert.ok(place > 0, `${room} has no field ${behind}`)
  lines.splice(place + 1, 0, `  nickname: optional(${as}(50)),`)
  writeFileSync(path, lines.join('\n'))
}

const nickname = 'Nick'
const post = async (path: string, body: object) => {
  const reply = await service.admin.post(path, body)
  assert.equal(reply.status, 200, reply.text)
  return Array.isArray(reply.data) ? reply.data[0] : reply.data
}

describe('A field of any resource is one line in its schema and one column', () => {
  it('of users, products, investments, distributions and documents', async () => {
    const user = await post('/User', {
      ...{ username: 'nick', password: 'a long pass phrase', role: 'ReadOnly', nickname },
    })
    const { productID, ...product } = await post('/Product', { name: 'P', nickname })
    const investment = await post('/Investment', { productID, name: 'I', nickname })
    const document = await post('/Document', { productID, documentTypeID: 1, nickname })
    const { investmentID } = investment
    const distribution = await post('/Distribution', {
      ...{ productID, investmentID, distributionAmountPerUnit: 1, nickname },
      taxComponents: [{ taxComponentName: 'Interest', percentage: 100 }],
    })
    const read = async (path: string) => {
      const { data } = await service.admin.get(path)
      return Array.isArray(data) ? data[0] : data
    }
    for (const [made, path] of [
      [user, `/User?UserID=${user.userID}`],
      [product, `/Product?ProductID=${productID}`],
      [investment, `/Investment?InvestmentID=${investment.investmentID}`],
      [distribution, `/Distribution?ProductID=${productID}`],
      [document, `/Document?DocumentID=${document.documentID}`],
    ]) {
      assert.equal(made.nickname, nickname)
      assert.equal((await read(path)).nickname, nickname)
    }
    const changed = await service.admin.put('/Product', { productID, name: 'P', nickname: 'N' })
    assert.equal(changed.data[0].nickname, 'N')
    const cleared = await service.admin.put('/Product', { productID, name: 'P' })
    assert.equal(cleared.data[0].nickname, null)
  })

  it('of investors and all that they have', async () => {
    const { productID } = await post('/Product', { name: 'P' })
    const entity = await post('/BizEntity', {
      bizEntityTypeID: 1,
      bizEntityStatusID: 1,
      name: 'Investor',
      nickname,
      accounts: [{ productID, nickname }],
      addresses: [{ nickname }],
      communications: [{ name: '1', nickname }],
      paymentDetails: [{ accountNumber: '1', nickname }],
      bizEntityParties: [
        { person: { firstName: 'Ann', nickname } },
        { organisation: { name: 'Org', nickname } },
      ],
    })
    const [person, organisation] = entity.bizEntityParties
    for (const record of [
      entity,
      entity.accounts[0],
      entity.addresses[0],
      entity.communications[0],
      entity.paymentDetails[0],
      person.person,
      organisation.organisation,
    ])
      assert.equal(record.nickname, nickname)
    entity.accounts[0].nickname = 'Other'
    const changed = await service.admin.put('/BizEntity', entity)
    assert.equal(changed.data?.[0].accounts[0].nickname, 'Other', changed.text)
  })
})
