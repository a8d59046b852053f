import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshDatabase } from '../support/database.ts'
import { refused } from '../support/refused.ts'
import { type Service, withService } from '../support/service.ts'

/** What SECURITY.md says of a change of the secret; tax-numbers.test.ts is about the other key. */
describe('A new JWT secret', () => {
  const secret = (name: string) => ({ REGISTRY_JWT_SECRET: `${name} ${'secret '.repeat(8)}` })
  const login = { username: 'admin', password: 'a password for tests' }
  const key = { 'Idempotency-Key': 'the same' }
  /** Its answer holds a secret, and is kept sealed. */
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
})
