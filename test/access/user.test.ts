import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { permissions, roles } from '../../src/platform/permission.ts'
import { rowsOf } from '../support/database.ts'
import { only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import {
  adminPassword as password,
  type Service,
  startService,
  withService,
} from '../support/service.ts'

let service: Service
let one: number
let two: number
before(async () => {
  service = await startService()
  const create = async (name: string): Promise<number> =>
    (await service.admin.post('/Product', { name })).data[0].productID
  one = await create('One')
  two = await create('Two')
})
after(() => service.stop())

let names = 0
const newName = () => `user${++names}`
const create = (body: object, client = service.admin) =>
  client.post('/User', { username: newName(), password, role: 'ReadOnly', ...body })
const created = async (body: object = {}) => {
  const reply = await create(body)
  assert.equal(reply.status, 200, reply.text)
  return reply.data[0]
}
const read = async (userID: number) => (await service.admin.get(`/User?UserID=${userID}`)).data[0]
const rows = (text: string, values: unknown[]) => rowsOf(service.connection, text, values)

/** Usernames that a person would mistake for another user's. */
const deceptive: [string, RegExp][] = [
  [' ann', /username begins or ends with a blank/],
  ['ann ', /username begins or ends with a blank/],
  ['ann\t', /cannot be seen/],
  ['an\u0007n', /cannot be seen/],
  ['an\u200bn', /cannot be seen/],
  ['an\u00adn', /cannot be seen/],
  ['\u202eann', /cannot be seen/],
  ['\ufeffann', /cannot be seen/],
  ['ann\u00a0lee', /cannot be seen/],
  ['ann\u3164', /cannot be seen/],
  ['cli', /username is what the audit trail calls the command line; choose another/],
  ['CLI', /command line/],
  ['ｃｌｉ', /command line/],
]

describe('POST /User', () => {
  it('creates a user, and never tells the password or its hash', async () => {
    const reply = await create({ username: 'Ann', productIDs: [two, one, one] })
    const [{ userID, createdDate, ...user }] = reply.data
    assert.ok(userID > 0 && createdDate)
    assert.deepEqual(user, {
      username: 'Ann',
      role: 'ReadOnly',
      permissions: null,
      productIDs: [one, two],
      isActive: true,
      lastLoginDate: null,
    })
    assert.ok(!/argon|password/i.test(reply.text))
  })

  it('takes a role or a list of permissions, one and not both', async () => {
    refused(await create({ role: null }), 400, 'invalid_value')
    refused(await create({ permissions: ['Product.Read'] }), 400, 'invalid_value')
    const user = await created({ role: null, permissions: ['Product.Read', 'Audit.Read'] })
    assert.deepEqual([user.role, user.permissions], [null, ['Product.Read', 'Audit.Read']])
    const nothing = await created({ role: null, permissions: [] })
    assert.deepEqual(nothing.permissions, [])
  })

  it('refuses roles and permissions that there are not, and says which there are', async () => {
    const reply = await create({ role: 'administrator' })
    refused(reply, 400, 'invalid_value')
    assert.match(reply.message ?? '', /role must be one of Administrator, Operator, ReadOnly/)
    const list = await create({ role: null, permissions: ['Product.Read', 'Product.Delete', 5] })
    refused(list, 400, 'invalid_value', 'wrong_type')
    assert.deepEqual(fieldsOf(list), ['permissions[1]', 'permissions[2]'])
  })

  it('asks for a name, and for a password of twelve characters or more', async () => {
    const reply = await service.admin.post('/User', { role: 'ReadOnly' })
    refused(reply, 400, 'required')
    assert.deepEqual(fieldsOf(reply), ['username', 'password'])
    const short = await create({ password: 'eleven char' })
    assert.match(short.message ?? '', /password must have at least 12 characters/)
    assert.ok(!short.text.includes('eleven char'), 'a password is not told back')
    refused(await create({ password: 'x'.repeat(257) }), 400, 'too_long')
    refused(await create({ username: '  ' }), 400, 'invalid_value')
    refused(await create({ username: 'x'.repeat(101) }), 400, 'too_long')
    assert.equal((await create({ password: '😀'.repeat(12) })).status, 200)
  })

  it('refuses a name that is taken, in whatever letter case', async () => {
    await created({ username: 'Taken' })
    const reply = await create({ username: 'tAKEN' })
    refused(reply, 409, 'duplicate')
    assert.deepEqual(fieldsOf(reply), ['username'])
    const names = ['Race', 'RACE', 'race', 'rACE', 'RacE']
    const race = await Promise.all(names.map((username) => create({ username })))
    assert.deepEqual(race.map(({ status }) => status).sort(), [200, 409, 409, 409, 409])
  })

  it('refuses a name that looks like another, in words that help', async () => {
    const { userID } = await created()
    for (const [username, words] of deceptive)
      for (const reply of [
        await create({ username }),
        await service.admin.put('/User', { userID, username }),
      ]) {
        refused(reply, 400, 'invalid_value')
        assert.deepEqual(fieldsOf(reply), ['username'])
        assert.match(reply.message ?? '', words)
      }
    for (const username of ['Ann Lee', 'ann.lee@example.com', 'Þóra Ó Sé', '李小龍', 'clio'])
      await created({ username })
  })

  it('lets a user with such a name from before sign in, and be changed otherwise', async () => {
    const { userID } = await created()
    const username = ' cli\u200b'
    await rows('update app_user set username = $1 where user_id = $2', [username, userID])
    const user = await read(userID)
    assert.equal(user.username, username)
    only(await service.admin.put('/User', { ...user, role: 'Operator' }))
    only(await service.admin.put('/User', { username, isActive: true }))
    const me = await (await service.anyone.signIn(username, password)).get('/User/Me')
    assert.deepEqual([me.data.username, me.data.role], [username, 'Operator'])
    refused(await service.admin.put('/User', { userID, username: ' cli' }), 400, 'invalid_value')
    only(await service.admin.put('/User', { userID, username: newName() }))
  })

  it('refuses products that do not exist, each by its id', async () => {
    const reply = await create({ productIDs: [one, 999, two, 1000] })
    refused(reply, 404, 'not_found')
    assert.deepEqual(fieldsOf(reply), ['productIDs', 'productIDs'])
    assert.match(reply.message ?? '', /productIDs 999\..*productIDs 1000\./)
    refused(await create({ productIDs: [0, -1, 2 ** 31, 1.5, '1'] }), 400)
  })

  it('assigns nothing that is the system’s to assign', async () => {
    const date = '1999-01-01T00:00:00Z'
    const user = await created({ userID: 4711, createdDate: date, lastLoginDate: date })
    assert.notEqual(user.userID, 4711)
    assert.notEqual(user.createdDate, date)
    assert.equal(user.lastLoginDate, null)
  })
})

describe('PUT /User', () => {
  it('gives other rights; the password and the name stay', async () => {
    const user = await created({ role: 'Operator', productIDs: [one] })
    const change = { userID: user.userID, permissions: ['Product.Read'], isActive: true }
    const [changed] = (await service.admin.put('/User', change)).data
    assert.deepEqual(changed, {
      ...user,
      role: null,
      permissions: ['Product.Read'],
    })
    await service.anyone.signIn(user.username, password)
  })

  it('takes back what GET gave, without a change', async () => {
    const user = await created({ productIDs: [two] })
    const reply = await service.admin.put('/User', user)
    assert.deepEqual(reply.data, [user])
    assert.deepEqual(await read(user.userID), user)
  })

  it('finds the user by id, else by name in any letter case, and can rename', async () => {
    const { userID, username } = await created()
    const rights = { role: 'ReadOnly', isActive: true }
    const upper = username.toUpperCase()
    assert.equal((await service.admin.put('/User', { username: upper, ...rights })).status, 200)
    await service.admin.put('/User', { userID, username: `${username}-new`, ...rights })
    assert.equal((await read(userID)).username, `${username}-new`)
    refused(await service.admin.put('/User', { username, ...rights }), 404, 'not_found')
    refused(await service.admin.put('/User', { userID: 99_999, ...rights }), 404, 'not_found')
    refused(await service.admin.put('/User', rights), 400, 'required')
    refused(await service.admin.put('/User', { userID, username: 'admin', ...rights }), 409)
  })

  it('leaves what is left out: rights, products, and whether the user is active', async () => {
    const { userID } = await created({ role: 'Operator', productIDs: [one] })
    const put = async (change: object) =>
      (await service.admin.put('/User', { userID, ...change })).data[0]
    const { role, productIDs } = await put({ isActive: false })
    assert.deepEqual([role, productIDs], ['Operator', [one]])
    const listed = await put({ permissions: ['Product.Read'] })
    assert.deepEqual([listed.role, listed.permissions], [null, ['Product.Read']])
    assert.deepEqual([listed.productIDs, listed.isActive], [[one], false])
    const renamed = await put({ username: `renamed-${userID}` })
    assert.deepEqual(renamed, { ...listed, username: `renamed-${userID}` })
    assert.deepEqual((await put({ role: null, permissions: null })).permissions, ['Product.Read'])
  })

  it('gives all products only by an explicit null, and only from who has them all', async () => {
    const { userID } = await created({ role: 'ReadOnly', productIDs: [one] })
    const scoped = await service.userWith({ role: 'Administrator', productIDs: [one] })
    assert.equal((await scoped.put('/User', { userID, isActive: true })).status, 200)
    refused(await scoped.put('/User', { userID, productIDs: null }), 403, 'beyond_own_rights')
    const reply = await service.admin.put('/User', { userID, productIDs: null })
    assert.equal(reply.data[0].productIDs, null)
  })

  it('sets a password where one is given', async () => {
    const { userID, username } = await created()
    const change = { userID, role: 'ReadOnly', isActive: true, password: 'a brand new password' }
    assert.equal((await service.admin.put('/User', change)).status, 200)
    await service.anyone.signIn(username, 'a brand new password')
    await assert.rejects(service.anyone.signIn(username, password))
  })
})

describe('Nobody hands out more than they have', () => {
  it('neither a role nor a permission', async () => {
    const rights = ['User.Read', 'User.Write', 'Product.Read'] as const
    const limited = await service.userWith({ permissions: rights })
    const reply = await create({ role: 'ReadOnly' }, limited)
    refused(reply, 403, 'beyond_own_rights')
    assert.match(reply.message ?? '', /BizEntity\.Read/)
    refused(await create({ role: null, permissions: ['Product.Write'] }, limited), 403)
    assert.equal((await create({ role: null, permissions: rights }, limited)).status, 200)
    const { userID } = await created({ role: null, permissions: [] })
    const more = { userID, permissions: ['Audit.Read'], isActive: true }
    refused(await limited.put('/User', more), 403, 'beyond_own_rights')
  })

  it('nor takes over or changes a user who has more', async () => {
    const limited = await service.userWith({ permissions: ['User.Read', 'User.Write'] })
    const { userID, username } = await created({ role: 'Operator' })
    const newPassword = 'a password to take over'
    const take = { userID, permissions: ['User.Write'], password: newPassword, isActive: true }
    refused(await limited.put('/User', take), 403, 'beyond_own_rights')
    refused(await limited.put('/User/Password', { userID, newPassword }), 403, 'beyond_own_rights')
    refused(await limited.put('/User/Password', { username, newPassword }), 403)
    await assert.rejects(service.anyone.signIn(username, newPassword))
  })

  it('nor products', async () => {
    const scoped = await service.userWith({ role: 'Administrator', productIDs: [one] })
    refused(await create({}, scoped), 403, 'beyond_own_rights')
    refused(await create({ productIDs: [one, two] }, scoped), 404, 'not_found')
    assert.equal((await create({ productIDs: [one] }, scoped)).status, 200)
  })
})

describe('A user with some products', () => {
  it('sees and changes only users whose products are all among them', async () => {
    const scoped = await service.userWith({ role: 'Administrator', productIDs: [one] })
    const inside = await created({ productIDs: [one] })
    const outside = [await created({ productIDs: [one, two] }), await created({})]
    const seen = (await scoped.get('/User?PageSize=1000')).data
    const has = ({ userID }: { userID: number }) =>
      seen.some((user: { userID: number }) => user.userID === userID)
    assert.ok(has(inside))
    for (const user of outside) {
      assert.ok(!has(user))
      assert.equal((await scoped.get(`/User?UserID=${user.userID}`)).recordCount, 0)
      assert.equal((await scoped.get(`/User?Username=${user.username}`)).recordCount, 0)
      refused(await scoped.put('/User', { ...user, productIDs: [one] }), 404, 'not_found')
      const change = { userID: user.userID, newPassword: 'a password to take over' }
      refused(await scoped.put('/User/Password', change), 404, 'not_found')
    }
    const change = { ...inside, role: 'Operator' }
    assert.equal((await scoped.put('/User', change)).data[0].role, 'Operator')
    refused(await scoped.put('/User', { ...inside, productIDs: [two] }), 404, 'not_found')
  })
})

describe('The last administrator', () => {
  it('cannot be made inactive or less, also when two try at once', () =>
    withService({}, async ({ admin }) => {
      const [{ userID }] = (await admin.get('/User?Username=admin')).data
      const lesser = [
        { userID, role: 'Administrator', isActive: false },
        { userID, role: 'Operator', isActive: true },
        { userID, permissions: ['User.Read', 'User.Write'], isActive: true },
        { userID, role: 'Administrator', productIDs: [], isActive: true },
      ]
      for (const change of lesser) refused(await admin.put('/User', change), 409)
      const second = { username: 'second', password, permissions }
      const [other] = (await admin.post('/User', second)).data
      const race = await Promise.all([
        admin.put('/User', { userID, role: 'ReadOnly', isActive: true }),
        admin.put('/User', { userID: other.userID, role: 'ReadOnly', isActive: true }),
      ])
      assert.deepEqual(race.map(({ status }) => status).sort(), [200, 409])
    }))
})

describe('PUT /User/Password', () => {
  it('changes one’s own with the current one, named or not', async () => {
    const { userID, username } = await created()
    let current = password
    for (const named of [{}, { userID }, { username: username.toUpperCase() }]) {
      const client = await service.anyone.signIn(username, current)
      const newPassword = `${current}!`
      refused(await client.put('/User/Password', { ...named, newPassword }), 400, 'required')
      const wrong = { ...named, currentPassword: 'not this one', newPassword }
      refused(await client.put('/User/Password', wrong), 401)
      const change = { ...named, currentPassword: current, newPassword }
      const reply = await client.put('/User/Password', change)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.data, null)
      current = newPassword
    }
    await service.anyone.signIn(username, current)
  })

  it('asks for a good one', async () => {
    const change = { currentPassword: password, newPassword: 'too short' }
    refused(await service.admin.put('/User/Password', change), 400, 'invalid_value')
  })

  it('changes another’s with User.Write; tells others nothing about who there is', async () => {
    const { userID, username } = await created()
    const newPassword = 'chosen by an administrator'
    const reader = await service.userWith({ role: 'ReadOnly' })
    for (const named of [{ userID }, { username }, { username: 'nobody' }, { userID: 99_999 }]) {
      const reply = await reader.put('/User/Password', { ...named, newPassword })
      refused(reply, 403, 'permission_missing')
    }
    assert.equal((await service.admin.put('/User/Password', { userID, newPassword })).status, 200)
    await service.anyone.signIn(username, newPassword)
    refused(await service.admin.put('/User/Password', { username: 'nobody', newPassword }), 404)
  })
})

describe('Roles', () => {
  it('have the permissions that they are to have, and no others', () => {
    assert.equal(permissions.length, 45)
    const without = (...words: string[]) =>
      permissions.filter((name) => !words.some((word) => name.startsWith(`${word}.`)))
    assert.deepEqual(roles.Administrator, permissions)
    assert.deepEqual(
      roles.Operator,
      without('User', 'Webhook', 'ApprovalRule').filter(
        (name) => !['PaymentRun.Approve', 'Product.Unlock'].includes(name),
      ),
    )
    assert.deepEqual(
      roles.ReadOnly,
      without('User', 'Audit', 'Webhook').filter((name) => name.endsWith('.Read')),
    )
  })

  it('of a stored user are known ones, whatever the database is told', async () => {
    const check = rowsOf(
      service.connection,
      `update app_user set role = null, permissions = null where username = 'admin'`,
    )
    await assert.rejects(check, /app_user_role_or_permissions/)
  })
})
