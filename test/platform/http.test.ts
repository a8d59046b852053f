import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { sendRaw } from '../support/raw.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService, withService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

/** Sends a body of exactly these bytes. */
const bytes = (path: string, body: Buffer | string) =>
  sendRaw(
    service.url,
    Buffer.concat([
      Buffer.from(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\n` +
          `Authorization: ${service.admin.token}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\n` +
          'Connection: close\r\n\r\n',
      ),
      Buffer.from(body),
    ]),
  )

const products = async () => (await rowsOf(service.connection, 'select count(*) from product'))[0]

describe('The envelope', () => {
  it('is on every success, with the number of records and no errors', async () => {
    const reply = await service.admin.get('/Product')
    assert.deepEqual(Object.keys(JSON.parse(reply.text)), [
      'result',
      'message',
      'recordCount',
      'data',
    ])
    assert.equal(reply.result, true)
    assert.equal(reply.recordCount, reply.data.length)
    assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(reply.headers.get('cache-control'), 'no-store')
  })

  it('is on an unknown path, and on a URL that is none', async () => {
    refused(await service.admin.get('/Nowhere'), 404, 'no_such_path')
    refused(await service.admin.get('/Product/1'), 404, 'no_such_path')
    refused(await service.admin.get('/%zz'), 400, 'bad_url')
    refused(await service.admin.get(`/${'x'.repeat(5000)}`), 404, 'no_such_path')
  })

  it('is on a wrong method, with the methods that the path takes', async () => {
    for (const path of ['/Product', '/PRODUCT/']) {
      const reply = await service.admin.call('PATCH', path)
      refused(reply, 405, 'wrong_method')
      assert.equal(reply.headers.get('allow'), 'GET, POST, PUT, DELETE')
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
      assert.equal((await service.admin.call(method, '/User/Login')).headers.get('allow'), 'POST')
    assert.equal((await fetch(`${service.url}/Product`, { method: 'HEAD' })).status, 405)
    refused(await service.admin.post('/openapi.json', {}), 405, 'wrong_method')
  })

  it('is on a body that is too large, whether its length is told or not', () =>
    withService(
      { REGISTRY_MAX_BODY_BYTES: '2000' },
      async ({ url, admin }) => {
        const body = { name: 'x'.repeat(3000) }
        refused(await admin.post('/Product', body), 413, 'body_too_large')
        const chunked = await sendRaw(
          url,
          `POST /Product HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\nAuthorization: ${admin.token}\r\n` +
            'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n' +
            `Connection: close\r\n\r\nbb8\r\n${'x'.repeat(3000)}\r\n0\r\n\r\n`,
        )
        refused(chunked, 413, 'body_too_large')
      },
      service.connection,
    ))

  it('is on what is not JSON by its type or its encoding', async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'multipart/form-data',
      'application/jsonx',
    ])
      refused(
        await service.admin.post('/Product', '{"name":"x"}', { 'Content-Type': type }),
        415,
        'not_json',
      )
    const zipped = { 'Content-Encoding': 'gzip' }
    refused(await service.admin.post('/Product', { name: 'x' }, zipped), 415, 'not_json')
  })

  it('is on bytes that are not HTTP, with a request id', async () => {
    const broken = ['NOT HTTP\r\n\r\n', 'GET\0 / HTTP/1.1\r\n\r\n', 'FOO /Product HTTP/1.1\r\n\r\n']
    for (const request of broken) refused(await sendRaw(service.url, request), 400, 'bad_request')
  })

  it('is on requests that a proxy and we could read differently', async () => {
    const head = 'POST /User/Login HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\n'
    const lengths = `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`
    const both = `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    const chunks = `${head}Transfer-Encoding: chunked, identity\r\n\r\n{}`
    for (const request of [lengths, both, chunks])
      refused(await sendRaw(service.url, request), 400, 'bad_request')
  })

  it('is on a request without a host, and on too many headers', async () => {
    const noHost = 'GET /Common/Lookup HTTP/1.1\r\nConnection: close\r\n\r\n'
    refused(await sendRaw(service.url, noHost), 400, 'bad_request')
    const long = `GET /Product HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(20_000)}\r\n\r\n`
    refused(await sendRaw(service.url, long), 431, 'headers_too_large')
  })

  it('is on an answer to an expectation that we do not know', async () => {
    const text = 'GET /Nowhere HTTP/1.1\r\nHost: x\r\nExpect: miracle\r\nConnection: close\r\n\r\n'
    refused(await sendRaw(service.url, text), 404)
  })
})

describe('A body', () => {
  it('is refused where it is not JSON, and nothing is written', async () => {
    const before = await products()
    const texts = [
      '',
      'name=x',
      '{"name":"x"',
      '{"name":"x"}}',
      "{'name':'x'}",
      '{"name":"x",}',
      '{"name":01}',
      '{"name":"\\x"}',
      '{"name":"a\nb"}',
      '[',
      'NaN',
      '\u0000',
    ]
    for (const text of texts) refused(await bytes('/Product', text), 400)
    assert.deepEqual(await products(), before)
  })

  it('is refused where a key stands twice, in any spelling and with whatever value', async () => {
    const texts = [
      '{"name":"x","name":"x"}',
      '{"name":"x","na\\u006de":"y"}',
      '{"name":"x","unknown":{"a":1,"a":1}}',
    ]
    for (const text of texts) refused(await bytes('/Product', text), 400, 'malformed_json')
    const cases = [
      '{"name":"x","NAME":"x"}',
      '{"name":null,"Name":"x"}',
      '{"name":"x","isActive":null,"ISACTIVE":null}',
    ]
    for (const text of cases) refused(await bytes('/Product', text), 400, 'given_twice')
  })

  it('is refused with __proto__, however it is written', async () => {
    const texts = [
      '{"name":"x","__proto__":{"isActive":false}}',
      '{"name":"x","\\u005f_proto__":1}',
      '{"name":"x","a":[{"__proto__":null}]}',
    ]
    for (const text of texts) refused(await bytes('/Product', text), 400, 'malformed_json')
    assert.equal(({} as { isActive?: unknown }).isActive, undefined)
  })

  it('may nest twenty levels and no more', async () => {
    const nested = (levels: number) => `{"name":"n","x":${'['.repeat(levels)}${']'.repeat(levels)}}`
    assert.equal((await bytes('/Product', nested(19))).status, 200)
    refused(await bytes('/Product', nested(20)), 400, 'malformed_json')
    refused(await bytes('/Person', nested(100_000)), 400, 'malformed_json')
  })

  it('may hold any character but NUL and half of a pair', async () => {
    const name = 'Zoë 😀 \u0001 \u007f \ufffd\uffff ﷽ e\u0301'
    const reply = await service.admin.post('/Product', { name })
    assert.equal(reply.data[0].name, name)
    for (const bad of ['\\u0000', '\\ud83d', '\\ude00', '\\ud83dx', '\\ude00\\ud83d'])
      refused(await bytes('/Product', `{"name":"x${bad}"}`), 400, 'malformed_json')
  })

  it('is refused where it is not valid UTF-8', async () => {
    for (const bad of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bad), Buffer.from('"}')])
      refused(await bytes('/Product', body), 400, 'malformed_json')
    }
  })

  it('names everything that is wrong with it at once, each fault once', async () => {
    const reply = await service.admin.post('/Product', {
      name: '',
      currencyID: 99,
      externalProductId: 'x'.repeat(51),
      isActive: 'yes',
      description: 5,
    })
    refused(reply, 400, 'invalid_value', 'unknown_lookup', 'too_long', 'wrong_type')
    assert.deepEqual(fieldsOf(reply).sort(), [
      'currencyID',
      'description',
      'externalProductId',
      'isActive',
      'name',
    ])
    assert.match(reply.message ?? '', /name must not be empty.*currencyID is not an id of/s)
  })

  it('may have fields that nobody knows and read-only ones, which do nothing', async () => {
    const reply = await service.admin.post('/Product', {
      name: 'Known',
      productID: 4711,
      createdDate: '1999-01-01T00:00:00Z',
      constructor: 'x',
      toString: { valueOf: 1 },
      whatever: [{}],
    })
    assert.equal(reply.status, 200)
    assert.notEqual(reply.data[0].productID, 4711)
    assert.ok(reply.data[0].createdDate > '2020')
  })

  it('of the wrong kind is told what is expected', async () => {
    for (const body of ['null', '[]', '5', '"x"', 'true', '[{"name":"x"}]']) {
      const reply = await service.admin.post('/Product', body)
      refused(reply, 400, 'wrong_type')
      assert.match(reply.message ?? '', /^The body must be an object/)
    }
    refused(await service.admin.post('/Product'), 400, 'wrong_type')
  })

  it('with lists beyond all measure is refused at once, not after naming every item', async () => {
    const permissions = `[${'1,'.repeat(900_000)}1]`
    refused(await bytes('/User', `{"permissions":${permissions}}`), 413, 'body_too_large')
    const reply = await bytes('/User', `{"permissions":[${'1,'.repeat(999)}1]}`)
    refused(reply, 400, 'required', 'too_many', 'wrong_type')
    assert.ok(reply.errors.length <= 100)
    const list = `[${'1,'.repeat(900_000)}1]`
    refused(await bytes('/Person', `{"addresses":${list}}`), 400, 'too_many')
    refused(await bytes('/Person', list), 400, 'too_many')
    const fields = Array.from({ length: 1001 }, (_, i) => `"f${i}":0`)
    refused(await bytes('/Product', `{${fields.join(',')}}`), 400, 'malformed_json')
  })

  it('of a stranger may be as long as a sign-in needs and no longer', async () => {
    const reply = await service.anyone.post('/User/Login', { username: 'x'.repeat(70_000) })
    refused(reply, 413, 'body_too_large')
  })
})

describe('An array of records', () => {
  const people = async () => (await rowsOf(service.connection, 'select from person')).length

  it('is refused whole for one bad record, which is told by its place', async () => {
    const before = await people()
    const good = { firstName: 'Ann' }
    const bad = { gender: 'Z', addresses: [{}, { suburb: 5 }] }
    const reply = await service.admin.post('/Person', [good, good, good, bad])
    refused(reply, 400)
    assert.deepEqual(fieldsOf(reply).sort(), ['[3].addresses[1].suburb', '[3].gender'])
    assert.match(reply.message ?? '', /\[3\]\.gender must be/)
    assert.equal(await people(), before)
  })

  it('may be one record alone, whose fields go by their own names', async () => {
    const bad = { gender: 'Z', addresses: [{ suburb: 5 }] }
    const reply = await service.admin.post('/Person', bad)
    assert.deepEqual(fieldsOf(reply).sort(), ['addresses[0].suburb', 'gender'])
    const inArray = await service.admin.post('/Person', [bad])
    assert.deepEqual(fieldsOf(inArray).sort(), ['[0].addresses[0].suburb', '[0].gender'])
  })

  it('has from 1 to 1000 of them, and the answer has them in the order sent', async () => {
    refused(await service.admin.post('/Person', []), 400, 'required')
    const many = Array.from({ length: 1000 }, (_, i) => ({ firstName: `N${i}` }))
    refused(await service.admin.post('/Person', [...many, {}]), 400, 'too_many')
    const reply = await service.admin.post('/Person', many)
    assert.equal(reply.recordCount, 1000)
    const names = reply.data.map(({ firstName }: { firstName: string }) => firstName)
    assert.deepEqual(
      names,
      many.map(({ firstName }) => firstName),
    )
  })
})

describe('Letter case', () => {
  it('of paths, parameters, operators and fields is nothing; that of values counts', async () => {
    const body = { NAME: 'Case', EXTERNALPRODUCTID: 'CaSe', currencyid: 2 }
    const created = await service.admin.post('/pRODUCT', body)
    assert.deepEqual(
      [created.data[0].name, created.data[0].externalProductId, created.data[0].currencyID],
      ['Case', 'CaSe', 2],
    )
    const found = async (path: string) => (await service.admin.get(path)).recordCount
    assert.equal(await found('/product?externalproductid=CaSe'), 1)
    assert.equal(await found('/PRODUCT/?EXTERNALPRODUCTID=CaSe'), 1)
    assert.equal(await found('/Product?ExternalProductId=case'), 0)
    assert.ok(await found('/audit?occurreddate.GREATERTHAN=2020-01-01'))
  })

  it('and a slash at the end of a path do not matter', async () => {
    assert.equal((await service.anyone.get('/common/LOOKUP/')).status, 200)
    assert.equal((await service.anyone.get('/Common/Lookup//')).status, 404)
  })
})

describe('The Version header', () => {
  it('is needed and is 2.0, on sign-in too', async () => {
    for (const Version of [undefined, '', '1.0', '2', '2.0.0', 'v2.0', '2.0, 2.0']) {
      refused(await service.admin.get('/Product', { Version }), 400, 'version')
      const login = { username: 'admin', password: 'x' }
      refused(await service.anyone.post('/User/Login', login, { Version }), 400, 'version')
    }
  })

  it('is not needed on /Common, the document, the reference page and the metrics', async () => {
    for (const path of [
      '/Common/Lookup',
      '/Common/HealthCheck',
      '/openapi.json',
      '/docs',
      '/metrics',
    ])
      assert.equal((await service.anyone.get(path, { Version: undefined })).status, 200, path)
  })
})

describe('The request id', () => {
  it('is the one the caller gives, where it is one, and else ours', async () => {
    const given = await service.admin.get('/Product', { 'X-Request-Id': 'order-66.a_b' })
    assert.equal(given.headers.get('x-request-id'), 'order-66.a_b')
    for (const bad of ['', 'a b', 'x'.repeat(65), '"quoted"']) {
      const reply = await service.admin.get('/Product', { 'X-Request-Id': bad })
      assert.match(reply.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
    }
    const one = await service.admin.get('/Product')
    const other = await service.admin.get('/Product')
    assert.notEqual(one.headers.get('x-request-id'), other.headers.get('x-request-id'))
  })
})

describe('Time', () => {
  it('to send the headers is limited', async () => {
    const slow = 'GET /Product HTTP/1.1\r\nHost: x\r\nX-Slow: '
    refused(await sendRaw(service.url, slow), 408, 'timeout')
  })

  it('lost by a caller who hangs up in the middle of a body harms nobody', async () => {
    const before = await products()
    const { hostname, port } = new URL(service.url)
    for (let i = 0; i < 20; i++) {
      const socket = connect({ host: hostname, port: Number(port) })
      const head =
        `POST /Product HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\nContent-Type: application/json\r\n` +
        `Authorization: ${service.admin.token}\r\nContent-Length: 1000\r\n\r\n{"name":"half`
      await new Promise((resolve) => socket.write(head, resolve))
      socket.destroy()
    }
    assert.equal((await service.admin.get('/Product')).status, 200)
    assert.deepEqual(await products(), before)
  })

  it('is not spent on a body whose sender is refused anyway', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { Version: '2.0', 'Content-Type': 'application/json', 'Content-Length': 5e6 }
      const call = request(`${service.url}/Product`, { method: 'POST', headers }, (answer) => {
        resolve(answer.statusCode)
        call.destroy()
      })
      call.on('error', reject)
      call.write('{"name":')
    })
    assert.equal(status, 401)
  })
})
