import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { codeAt, stepAt } from '../../src/access/second-factor/totp.ts'
import { freshDatabase, urlOf } from '../support/database.ts'
import { startProgram, temporaryFolder } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, withService } from '../support/service.ts'

/** Tests what SECURITY.md says about a new JWT secret; tax-numbers.test.ts has the other key. */
describe('A new JWT secret', () => {
  const secret = (name: string) => ({ REGISTRY_JWT_SECRET: `${name} ${'secret '.repeat(8)}` })
  const codeNow = (factor: string) => codeAt(factor, stepAt(Date.now()))
  const login = { username: 'admin', password: 'a password for tests' }
  const key = { 'Idempotency-Key': 'the same' }
  /** The body of POST /ApiKey, whose answer holds a secret and is kept encrypted. */
  const apiKey = { name: 'Kept', permissions: ['Product.Read'] }

  it('ends access tokens; refresh tokens go on; kept answers are not opened', async () => {
    const connection = await freshDatabase()
    let old: { accessToken: string; refreshToken: string }
    const before = async ({ anyone }: Service) => {
      old = (await anyone.post('/User/Login', login)).data
      const headers = { ...key, Authorization: old.accessToken }
      const made = await anyone.post('/ApiKey', apiKey, headers)
      assert.equal(made.status, 200, made.text)
      assert.equal((await anyone.post('/ApiKey', apiKey, headers)).text, made.text)
      for (let i = 0; i < 10; i++)
        refused(await anyone.post('/User/Login', { username: 'x', password: 'x' }), 401)
      refused(await anyone.post('/User/Login', { username: 'x', password: 'x' }), 429)
    }
    const after = async ({ anyone }: Service) => {
      const { accessToken, refreshToken } = old
      const headers = { Authorization: accessToken }
      refused(await anyone.get('/Product', headers), 401, 'token_invalid')
      refused(await anyone.post('/User/RefreshToken', { refreshToken }, headers), 401)
      const fresh = await anyone.post('/User/RefreshToken', { refreshToken })
      assert.equal(fresh.status, 200, fresh.text)
      const renewed = { Authorization: fresh.data.accessToken }
      assert.equal((await anyone.get('/Product', renewed)).status, 200)
      const again = await anyone.post('/ApiKey', apiKey, { ...key, ...renewed })
      refused(again, 422, 'idempotency_key_reused')
      // Failed sign-ins are counted by a hash under this secret: the count begins anew.
      refused(await anyone.post('/User/Login', { username: 'x', password: 'x' }), 401)
    }
    await withService(secret('old'), before, connection)
    await withService(secret('new'), after, connection)
  })

  it('leaves second factors that say what to do, and go with a recovery code', async () => {
    const connection = await freshDatabase()
    const ann = { ...login, username: 'ann' }
    let [factor, recoveryCode] = ['', '']
    const enrol = async ({ admin, anyone }: Service) => {
      await admin.post('/User', { ...ann, role: 'Operator' })
      const client = await anyone.signIn(ann.username, ann.password)
      factor = (await client.post('/User/SecondFactor')).data.secret
      const confirmed = await client.post('/User/SecondFactor/Confirm', { code: codeNow(factor) })
      recoveryCode = confirmed.data.recoveryCodes[0]
    }
    const signIn = async ({ anyone }: Service) => {
      const told = await anyone.post('/User/Login', { ...ann, code: codeNow(factor) })
      refused(told, 409, 'key_missing')
      assert.match(told.message!, /recovery code/)
      const signed = await anyone.post('/User/Login', { ...ann, code: recoveryCode })
      assert.equal(signed.status, 200, signed.text)
    }
    await withService(secret('old'), enrol, connection)
    await withService(secret('new'), signIn, connection)
  })

  it('leaves requests that wait for approval to be rejected, and sent again', async () => {
    const connection = await freshDatabase()
    let approvalID = 0
    const ask = async ({ admin, userWith }: Service) => {
      await admin.post('/ApprovalRule', { operation: 'POST /Product' })
      const maker = await userWith({ role: 'Operator' })
      approvalID = (await maker.post('/Product', { name: 'Waits' })).data.approvalID
    }
    const decide = async ({ admin }: Service) => {
      const told = await admin.post('/Approval/Approve', { approvalID })
      refused(told, 409, 'key_missing')
      assert.match(told.message!, /reject it/)
      const rejected = await admin.post('/Approval/Reject', { approvalID, reason: 'Unreadable' })
      assert.equal(rejected.status, 200, rejected.text)
    }
    await withService(secret('old'), ask, connection)
    await withService(secret('new'), decide, connection)
  })
})

describe('A key file', () => {
  it('that is empty, cut short or has two keys for one stops the start, and is named', async () => {
    const connection = await freshDatabase()
    const [key, other] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'))
    for (const [name, text] of [
      ['jwt-secret', ''],
      ['encryption-key', ''],
      ['encryption-key', key!.slice(0, 20)],
      ['encryption-key', `${key}\n${other}`],
      ['previous-encryption-keys', `${key}\n${key!.slice(0, 20)}`],
      ['audit-signing-key', ''],
    ] as const) {
      const dataDir = temporaryFolder()
      mkdirSync(join(dataDir, 'keys'))
      writeFileSync(join(dataDir, 'keys', name), text)
      const program = startProgram({
        DATABASE_URL: urlOf(connection),
        REGISTRY_DATA_DIR: dataDir,
      })
      assert.equal(await program.exited, 1)
      assert.match(program.errors(), new RegExp(`keys/${name} .*bring it back from a backup`))
    }
  })
})
