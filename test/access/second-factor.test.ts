import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeAt, stepAt, stepOf } from '../../src/access/second-factor/totp.ts'
import { clientOf } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { refused } from '../support/refused.ts'
import {
  adminPassword as password,
  type Service,
  startService,
  withService,
} from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

let names = 0
const codeNow = (secret: string, ahead = 0) => codeAt(secret, stepAt(Date.now()) + ahead)

/** A user with a confirmed second factor. */
async function enrolled(rights: object = { role: 'ReadOnly' }) {
  const username = `careful-${++names}`
  const [{ userID }] = (await service.admin.post('/User', { username, password, ...rights })).data
  const client = await service.anyone.signIn(username, password)
  const { secret, otpauthUrl } = (await client.post('/User/SecondFactor')).data
  assert.match(otpauthUrl, new RegExp(`^otpauth://totp/.*secret=${secret}`))
  const confirm = () => client.post('/User/SecondFactor/Confirm', { code: codeNow(secret, -1) })
  let confirmed = await confirm()
  // The code of the step before is too old once the next step begins on the way.
  if (confirmed.status === 401) confirmed = await confirm()
  assert.equal(confirmed.status, 200, confirmed.text)
  const { recoveryCodes } = confirmed.data
  return { username, userID, client, secret, recoveryCodes: recoveryCodes as string[] }
}

const login = (username: string, code?: string) =>
  service.anyone.post('/User/Login', { username, password, ...(code && { code }) })

describe('Codes by time', () => {
  it('are those of RFC 6238', () => {
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' // 12345678901234567890
    const vectors: [number, string][] = [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
      [20_000_000_000, '353130'],
    ]
    for (const [seconds, code] of vectors)
      assert.equal(codeAt(secret, stepAt(seconds * 1000)), code)
    assert.equal(stepOf(secret, '287082', 59_000 + 30_000), 1)
    assert.equal(stepOf(secret, '287082', 59_000 + 61_000), undefined)
  })
})

describe('A second factor', () => {
  it('counts once it is confirmed, and is then asked for at every sign-in', async () => {
    const username = `careful-${++names}`
    await service.admin.post('/User', { username, password, role: 'ReadOnly' })
    const client = await service.anyone.signIn(username, password)
    refused(await client.post('/User/SecondFactor/Confirm', { code: '123456' }), 409)
    const { secret } = (await client.post('/User/SecondFactor')).data
    assert.equal((await login(username)).status, 200, 'not confirmed yet')
    // The second has six letters as well, in more bytes.
    for (const code of [codeNow(secret, 5), '12345\u00e9'])
      refused(await client.post('/User/SecondFactor/Confirm', { code }), 401, 'code_wrong')
    const right = { code: codeNow(secret) }
    const { recoveryCodes } = (await client.post('/User/SecondFactor/Confirm', right)).data
    assert.equal(new Set(recoveryCodes).size, 10)
    refused(await login(username), 401, 'code_required')
    for (const code of [codeNow(secret, 7), '12345\u00e9'])
      refused(await login(username, code), 401, 'code_wrong')
    refused(await client.post('/User/SecondFactor'), 409, 'second_factor_present')
    assert.equal((await client.get('/User/Me')).data.hasSecondFactor, true)
  })

  it('takes each code once, however many arrive at once', async () => {
    const { username, secret } = await enrolled()
    const code = codeNow(secret)
    const replies = await Promise.all(Array.from({ length: 5 }, () => login(username, code)))
    const statuses = replies.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, 401, 401, 401, 401])
    refused(await login(username, codeNow(secret, -1)), 401, 'code_wrong')
  })

  it('takes each recovery code once, in any letter case', async () => {
    const { username, recoveryCodes } = await enrolled()
    const [first = '', second = ''] = recoveryCodes
    assert.equal((await login(username, first.toLowerCase().replaceAll('-', ''))).status, 200)
    refused(await login(username, first), 401, 'code_wrong')
    assert.equal((await login(username, second)).status, 200)
  })

  it('does not say whether the password was right to who guesses it', async () => {
    const { username, secret } = await enrolled()
    const body = { username, password: 'a wrong password', code: codeNow(secret) }
    refused(await service.anyone.post('/User/Login', body), 401, 'sign_in_failed')
    assert.equal((await login(username, codeNow(secret))).status, 200, 'the code was not spent')
  })

  it('counts wrong codes as failed sign-ins', async () => {
    const { username, secret } = await enrolled()
    for (let i = 0; i < 10; i++) refused(await login(username, codeNow(secret, 9)), 401)
    refused(await login(username, codeNow(secret)), 429, 'too_many_failures')
  })

  it('that is confirmed by a right code forgives the wrong ones before it', async () => {
    const username = `careful-${++names}`
    await service.admin.post('/User', { username, password, role: 'ReadOnly' })
    const client = await service.anyone.signIn(username, password)
    const { secret } = (await client.post('/User/SecondFactor')).data
    const confirm = (code: string) => client.post('/User/SecondFactor/Confirm', { code })
    for (let i = 0; i < 9; i++) refused(await confirm(codeNow(secret, 9)), 401, 'code_wrong')
    assert.equal((await confirm(codeNow(secret))).status, 200)
    for (let i = 0; i < 9; i++)
      refused(await login(username, codeNow(secret, 9)), 401, 'code_wrong')
    assert.equal((await login(username, codeNow(secret, 1))).status, 200)
  })

  it('forgives no wrong password as it comes and goes, so that no thief guesses on', async () => {
    const username = `careful-${++names}`
    await service.admin.post('/User', { username, password, role: 'ReadOnly' })
    const thief = await service.anyone.signIn(username, password)
    const guess = { currentPassword: 'a wrong password', newPassword: 'a longer password' }
    for (let i = 0; i < 7; i++) refused(await thief.put('/User/Password', guess), 401)
    const { secret } = (await thief.post('/User/SecondFactor')).data
    const wrong = { code: codeNow(secret, 9) }
    refused(await thief.post('/User/SecondFactor/Confirm', wrong), 401, 'code_wrong')
    const right = { code: codeNow(secret) }
    const confirmed = await thief.post('/User/SecondFactor/Confirm', right)
    assert.equal(confirmed.status, 200, confirmed.text)
    refused(await thief.put('/User/Password', guess), 401)
    const code = confirmed.data.recoveryCodes[0]
    assert.equal((await thief.delete(`/User/SecondFactor?Code=${code}`)).status, 200)
    for (let i = 0; i < 2; i++) refused(await thief.put('/User/Password', guess), 401)
    refused(await thief.put('/User/Password', guess), 429, 'too_many_failures')
    refused(await login(username), 429, 'too_many_failures')
  })

  it('of another waits where a rule is about users; one’s own goes at once', async () => {
    const [another, own] = [await enrolled(), await enrolled()]
    const maker = await service.userWith({ role: 'Administrator' })
    const rule = { operation: 'DELETE /User/SecondFactor' }
    const [{ approvalRuleID }] = (await service.admin.post('/ApprovalRule', rule)).data
    const asked = await maker.delete(`/User/SecondFactor?UserID=${another.userID}`)
    assert.equal(asked.status, 202, asked.text)
    refused(await login(another.username), 401, 'code_required')
    const code = own.recoveryCodes[0]
    assert.equal((await own.client.delete(`/User/SecondFactor?Code=${code}`)).status, 200)
    const { approvalID } = asked.data
    assert.equal((await service.admin.post('/Approval/Approve', { approvalID })).status, 200)
    assert.equal((await login(another.username)).status, 200)
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('goes with a code, or by who manages users, and both are in the trail', async () => {
    const { client, secret, userID, username } = await enrolled()
    refused(await client.delete('/User/SecondFactor'), 400, 'required')
    refused(await client.delete('/User/SecondFactor?Code=000000'), 401, 'code_wrong')
    refused(await client.delete(`/User/SecondFactor?UserID=${userID}`), 400, 'required')
    const code = codeNow(secret)
    assert.equal((await client.delete(`/User/SecondFactor?Code=${code}`)).status, 200)
    assert.equal((await login(username)).status, 200)
    const another = await enrolled()
    refused(await client.delete(`/User/SecondFactor?UserID=${another.userID}`), 403)
    const path = `/User/SecondFactor?UserID=${another.userID}`
    assert.equal((await service.admin.delete(path)).status, 200)
    assert.equal((await login(another.username)).status, 200)
    const trail = await service.admin.get(`/Audit?Resource=User&ResourceID=${another.userID}`)
    const last = trail.data.filter(({ operation }: { operation: string }) =>
      operation.startsWith('DELETE'),
    )
    assert.deepEqual(last[0].changes, { secondFactor: 'removed' })
    assert.equal(last[0].username, 'admin')
  })

  it('is stored sealed, and its codes hashed', async () => {
    const { secret, recoveryCodes } = await enrolled()
    const rows = await rowsOf(
      service.connection,
      `select f::text as text from second_factor f
       union all select c::text from recovery_code c union all select a::text from audit a`,
    )
    const dump = rows.map(({ text }) => text).join('\n')
    assert.ok(!dump.includes(secret))
    for (const code of recoveryCodes) assert.ok(!dump.includes(code))
  })
})

describe('REGISTRY_REQUIRE_SECOND_FACTOR', () => {
  it('lets whoever has none, or none any more, do nothing but enrol; then everything', () =>
    withService({ REGISTRY_REQUIRE_SECOND_FACTOR: 'true' }, async ({ url, anyone }) => {
      const reply = await anyone.post('/User/Login', { username: 'admin', password })
      assert.equal(reply.data.secondFactorRequired, true)
      const half = clientOf(url, reply.data.accessToken)
      refused(await half.get('/Product'), 403, 'second_factor_required')
      refused(await half.post('/ApiKey', { name: 'x', permissions: [] }), 403)
      const { data: me } = await half.get('/User/Me')
      assert.deepEqual([me.secondFactorRequired, me.permissions], [true, []])
      const { refreshToken } = reply.data
      const renewed = await anyone.post('/User/RefreshToken', { refreshToken })
      const still = clientOf(url, renewed.data.accessToken)
      refused(await still.get('/Product'), 403, 'second_factor_required')
      const elsewhere = await anyone.post('/User/Login', { username: 'admin', password })
      const { secret } = (await still.post('/User/SecondFactor')).data
      const code = codeNow(secret)
      const confirmed = await still.post('/User/SecondFactor/Confirm', { code })
      assert.equal(confirmed.status, 200)
      const { recoveryCodes } = confirmed.data
      await sleep(1000)
      assert.equal((await still.get('/Product')).status, 200)
      const other = await anyone.post('/User/RefreshToken', {
        refreshToken: elsewhere.data.refreshToken,
      })
      assert.equal(other.data.secondFactorRequired, true, 'no code was ever shown there')
      const knowsPassword = clientOf(url, other.data.accessToken)
      refused(await knowsPassword.get('/Product'), 403, 'second_factor_required')
      const same = await anyone.post('/User/RefreshToken', {
        refreshToken: renewed.data.refreshToken,
      })
      assert.equal((await clientOf(url, same.data.accessToken).get('/Product')).status, 200)
      const next = { username: 'admin', password, code: codeNow(secret, 1) }
      const full = await anyone.post('/User/Login', next)
      assert.equal(full.status, 200)
      assert.equal(full.data.secondFactorRequired, undefined)

      const gone = await still.delete(`/User/SecondFactor?Code=${recoveryCodes[0]}`)
      assert.equal(gone.status, 200, gone.text)
      await sleep(1000)
      for (const client of [still, clientOf(url, full.data.accessToken)]) {
        refused(await client.get('/Product'), 403, 'second_factor_required')
        assert.equal((await client.get('/User/Me')).data.secondFactorRequired, true)
      }
      assert.equal((await still.post('/User/SecondFactor')).status, 200, 'they may enrol again')
    }))
})
