import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { getBytes, sendForm, sha256 } from '../support/files.ts'
import { newProduct } from '../support/ledger.ts'
import { sendRaw } from '../support/raw.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService, withService } from '../support/service.ts'

let service: Service
let admin: Client
let productID: number
before(async () => {
  service = await startService()
  admin = service.admin
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const create = async (body: object = {}) => {
  const reply = await admin.post('/Document', { documentTypeID: 6, productID, ...body })
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}
const pathOf = (documentID: number) => `/Document/File?DocumentID=${documentID}`
const pdf = (size: number) => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(size)])
const upload = (documentID: number, bytes: Buffer, more: object = {}) =>
  admin.post('/Document/File', {
    documentID,
    fileName: 'file.pdf',
    contentType: 'application/pdf',
    content: bytes.toString('base64'),
    ...more,
  })

describe('A file', () => {
  it('sent as JSON comes back byte for byte, as JSON and raw', async () => {
    for (const size of [1, 2, 3, 4, 1000, 65_536, 3_000_001]) {
      const { documentID } = await create()
      const bytes = pdf(size)
      const reply = await upload(documentID, bytes)
      assert.equal(reply.status, 200, reply.text)
      const told = {
        documentID,
        fileName: 'file.pdf',
        contentType: 'application/pdf',
        size: bytes.length,
        sha256: sha256(bytes),
      }
      assert.deepEqual(reply.data, told)
      const { status, data } = await admin.get(pathOf(documentID))
      assert.equal(status, 200)
      const { content, ...rest } = data
      assert.deepEqual(rest, told)
      assert.ok(Buffer.from(content, 'base64').equals(bytes))
      for (const raw of [
        await getBytes(admin, pathOf(documentID)),
        await getBytes(admin, `${pathOf(documentID)}&Raw=true`, { Accept: '*/*' }),
      ]) {
        assert.ok(raw.bytes.equals(bytes))
        assert.equal(raw.headers.get('content-type'), 'application/pdf')
        assert.equal(raw.headers.get('x-content-type-options'), 'nosniff')
        assert.match(raw.headers.get('content-security-policy') ?? '', /sandbox/)
        assert.match(raw.headers.get('content-disposition') ?? '', /^attachment; filename=/)
      }
    }
  })

  it('sent as a form comes back byte for byte', async () => {
    const { documentID } = await create()
    const bytes = pdf(2_000_000)
    const file = { bytes, name: 'bericht ü.pdf', type: 'application/pdf' }
    const reply = await sendForm(admin, '/Document/File', { documentID }, file)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.data.fileName, 'bericht ü.pdf')
    assert.equal(reply.data.sha256, sha256(bytes))
    assert.ok((await getBytes(admin, pathOf(documentID))).bytes.equals(bytes))
  })

  it('goes to a document by its external id, also in a form', async () => {
    const externalDocumentId = `X-${randomBytes(4).toString('hex')}`
    const { documentID } = await create({ externalDocumentId })
    const named = { externalDocumentId, productID }
    const reply = await admin.post('/Document/File', { ...named, content: 'aGVsbG8=' })
    assert.equal(reply.data.documentID, documentID)
    assert.equal(reply.data.fileName, 'file')
    const file = { bytes: Buffer.from('other'), name: 'o.txt', type: 'text/plain' }
    const put = await sendForm(admin, '/Document/File', named, file, { method: 'PUT' })
    assert.equal(put.data.documentID, documentID)
    assert.equal((await getBytes(admin, pathOf(documentID))).bytes.toString(), 'other')
  })

  it('may stand anywhere in its JSON, escaped, broken into lines, in any letter case', async () => {
    const bytes = Buffer.from([...Array(256).keys()])
    const base64 = bytes.toString('base64')
    const written = [
      (id: number) => `{"content":"${base64}","documentID":${id}}`,
      (id: number) => `{ "documentID" : ${id} , "CONTENT" : "${base64.replaceAll('/', '\\/')}" }`,
      (id: number) => `{"documentID":${id},"Content":"${base64.replaceAll('+', '\\u002B')}"}`,
      (id: number) => `{"documentID":${id},"content":"${base64.replace(/.{76}/g, '$&\\r\\n')}"}`,
      (id: number) => `{"documentID":${id},"content":"${base64.replaceAll('=', '')}"}`,
      (id: number) =>
        `{"x":{"content":"no"},"y":["content"],"documentID":${id},"content":"${base64}"}`,
    ]
    for (const write of written) {
      const { documentID } = await create()
      const reply = await admin.post('/Document/File', write(documentID))
      assert.equal(reply.status, 200, reply.text)
      assert.ok((await getBytes(admin, pathOf(documentID))).bytes.equals(bytes))
    }
  })

  it('is refused when its content is no base64, empty, missing or given twice', async () => {
    const { documentID } = await create()
    for (const content of ['@@@@', 'aGVsbG8=x', 'a', 'aGVs=bG8', 'data:text/plain;base64,aGk='])
      refused(await admin.post('/Document/File', { documentID, content }), 400, 'invalid_value')
    refused(await admin.post('/Document/File', { documentID, content: '' }), 400)
    refused(await admin.post('/Document/File', { documentID }), 400, 'required')
    refused(await admin.post('/Document/File', { documentID, content: 5 }), 400, 'wrong_type')
    refused(await sendForm(admin, '/Document/File', { documentID }), 400, 'required')
    const twice = `{"documentID":${documentID},"content":"aGk=","content":"aGk="}`
    refused(await admin.post('/Document/File', twice), 400)
    refused(await admin.get(pathOf(documentID)), 404, 'no_file')
  })

  it('that a form has beside another, or beside too many fields, is refused in words', async () => {
    const { documentID } = await create()
    const file = { bytes: pdf(10), name: 'a.pdf', type: 'application/pdf' }
    const two = new FormData()
    two.append('documentID', String(documentID))
    for (const name of ['a.pdf', 'b.pdf']) two.append('file', new Blob([pdf(10)]), name)
    const headers = { Version: '2.0', Authorization: admin.token ?? '' }
    const sent = await fetch(`${admin.url}/Document/File`, { method: 'POST', headers, body: two })
    const { message, errors } = (await sent.json()) as Reply
    assert.deepEqual(
      [sent.status, errors?.[0]?.code, message],
      [400, 'given_twice', 'file is given twice.'],
    )
    const others = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`field${i}`, 'x']))
    const many = await sendForm(admin, '/Document/File', { documentID, ...others }, file)
    refused(many, 400, 'too_many')
    assert.match(many.message ?? '', /at most 20 fields/)
    refused(await admin.get(pathOf(documentID)), 404, 'no_file')
  })

  it('that a form has as a text, without a name, is refused and changes nothing', async () => {
    const { documentID } = await create()
    const post = await sendForm(admin, '/Document/File', { documentID, file: 'hello' })
    refused(await admin.get(pathOf(documentID)), 404, 'no_file')
    const bytes = pdf(10)
    assert.equal((await upload(documentID, bytes)).status, 200)
    const put = { method: 'PUT' }
    const replies = [post]
    for (const fields of [{ file: 'hello' }, { FILE: 'hello', fileName: 'a.txt' }, { file: '' }])
      replies.push(
        await sendForm(admin, '/Document/File', { documentID, ...fields }, undefined, put),
      )
    const terms = { type: 'Prices', mode: 'validate', format: 'csv', documentID }
    for (const fields of [{ file: 'a,b' }, { content: 'aGVsbG8=' }])
      replies.push(await sendForm(admin, '/Import', { ...terms, ...fields }))
    for (const reply of replies) {
      refused(reply, 400, 'invalid_value')
      assert.match(reply.message ?? '', /field file of the form/)
    }
    assert.ok((await getBytes(admin, pathOf(documentID))).bytes.equals(bytes))
  })

  it('that is cut off, or a form that is none, leaves nothing and is no fault', async () => {
    const { documentID } = await create()
    for (const [type, body] of [
      ['application/json', `{"documentID":${documentID},"content":"aGVsbG8`],
      ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="file"'],
      ['multipart/form-data; boundary=x', 'nothing'],
      ['multipart/form-data', '--x--'],
    ] as const) {
      const reply = await admin.post('/Document/File', body, { 'Content-Type': type })
      assert.ok(reply.status >= 400 && reply.status < 500, `${type}: ${reply.text}`)
      refused(reply, reply.status)
    }
    refused(await admin.post('/Document/File', 'x', { 'Content-Type': 'text/plain' }), 415)
    refused(await admin.get(pathOf(documentID)), 404, 'no_file')
  })

  it('is added once with POST and replaced with PUT', async () => {
    const { documentID } = await create()
    refused(await admin.put('/Document/File', { documentID, content: 'aGVsbG8=' }), 404, 'no_file')
    const [first, second] = [pdf(10), pdf(20)]
    assert.equal((await upload(documentID, first)).status, 200)
    refused(await upload(documentID, second), 409, 'has_file')
    assert.ok((await getBytes(admin, pathOf(documentID))).bytes.equals(first))
    const content = second.toString('base64')
    const put = await admin.put('/Document/File', { documentID, fileName: 'b.pdf', content })
    assert.deepEqual([put.status, put.data.sha256], [200, sha256(second)])
    assert.ok((await getBytes(admin, pathOf(documentID))).bytes.equals(second))
    refused(await upload(99999999, first), 404, 'not_found')
  })

  it('under an Idempotency-Key is stored once, and another file under it is refused', async () => {
    const { documentID } = await create()
    const bytes = pdf(100)
    const key = { 'Idempotency-Key': randomBytes(8).toString('hex') }
    const body = { documentID, fileName: 'a.pdf', content: bytes.toString('base64') }
    const first = await admin.post('/Document/File', body, key)
    const again = await admin.post('/Document/File', body, key)
    assert.deepEqual([first.status, again.status], [200, 200])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(again.data, first.data)
    const other = { ...body, content: pdf(100).toString('base64') }
    refused(await admin.post('/Document/File', other, key), 422)
  })

  it('of a public document needs no token and no version; of another it needs both', async () => {
    const open = await create({ isPublic: true })
    const closed = await create()
    for (const { documentID } of [open, closed]) await upload(documentID, pdf(50))
    const path = pathOf(open.documentID)
    assert.equal((await service.anyone.get(path, { Version: undefined })).status, 200)
    assert.equal((await admin.get(path, { Version: undefined })).status, 200)
    refused(await admin.get(pathOf(closed.documentID), { Version: undefined }), 400, 'version')
    const hidden = await service.anyone.get(pathOf(closed.documentID))
    const missing = await service.anyone.get(pathOf(99999999))
    refused(hidden, 401, 'unauthenticated')
    assert.equal(hidden.message, missing.message)
  })
})

describe('The size of a file', () => {
  it('is limited, in JSON and in a form, whatever the length says', async () => {
    const limit = 100_000
    await withService({ REGISTRY_MAX_FILE_BYTES: String(limit) }, async (small) => {
      const product = await newProduct(small)
      const make = async () =>
        (await small.admin.post('/Document', { documentTypeID: 6, ...product })).data.documentID
      const text = (size: number) => Buffer.alloc(size, 'x')
      const send = async (size: number) => {
        const documentID = await make()
        const content = text(size).toString('base64')
        const json = await small.admin.post('/Document/File', { documentID, content })
        const file = { bytes: text(size), name: 'a.txt', type: 'text/plain' }
        const id = await make()
        const form = await sendForm(small.admin, '/Document/File', { documentID: id }, file)
        return [json, form]
      }
      for (const reply of await send(limit)) assert.equal(reply.status, 200, reply.text)
      for (const reply of await send(limit + 1)) refused(reply, 413, 'file_too_large')
      for (const reply of await send(limit * 30)) refused(reply, 413, 'file_too_large')
      const documentID = await make()
      const bloat = { documentID, fileName: 'x'.repeat(70_000), content: 'aGk=' }
      refused(await small.admin.post('/Document/File', bloat), 413, 'body_too_large')
    })
  })
})

describe('The kind of a file', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(20)])
  const send = async (bytes: Buffer | string, fileName: string, contentType?: string) => {
    const { documentID } = await create()
    const content = Buffer.from(bytes).toString('base64')
    return admin.post('/Document/File', { documentID, fileName, contentType, content })
  }

  it('is what it says, what its name says and how it begins', async () => {
    const right: [Buffer | string, string, string | undefined, string][] = [
      [pdf(10), 'a.pdf', 'application/pdf', 'application/pdf'],
      [pdf(10), 'a.PDF', undefined, 'application/pdf'],
      [png, 'a.png', 'image/png', 'image/png'],
      ['a,b\n1,2\n', 'a.csv', 'text/csv; charset=utf-8', 'text/csv'],
      ['hello', 'noext', 'text/plain', 'text/plain'],
      ['{"a":1}', 'a.json', 'application/json', 'application/json'],
      ['PK\x03\x04...', 'a.xlsx', undefined, sheet],
      [randomBytes(50), 'a.bin', 'application/octet-stream', 'application/octet-stream'],
      [randomBytes(50), 'a', undefined, 'application/octet-stream'],
    ]
    for (const [bytes, name, declared, type] of right) {
      const reply = await send(bytes, name, declared)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.data.contentType, type)
    }
    const wrong: [Buffer | string, string, string | undefined][] = [
      ['hello', 'a.pdf', 'application/pdf'],
      ['hello', 'a.pdf', undefined],
      [png, 'a.pdf', 'application/pdf'],
      [png, 'a.txt', 'text/plain'],
      [pdf(10), 'a.txt', 'application/pdf'],
      [pdf(10), 'a.pdf', 'image/png'],
      ['a\0b', 'a.txt', 'text/plain'],
    ]
    for (const [bytes, name, declared] of wrong)
      refused(await send(bytes, name, declared), 415, 'file_type')
  })

  it('is never one that a browser would run', async () => {
    const page = '<!DOCTYPE html><script>alert(1)</script>'
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    for (const [bytes, name, declared] of [
      [page, 'a.html', 'text/html'],
      [page, 'a', 'text/html'],
      [page, 'a.txt', 'text/plain'],
      [page, 'a.html', undefined],
      [drawing, 'a.svg', 'image/svg+xml'],
      [drawing, 'a.csv', 'text/csv'],
      ['alert(1)', 'a.js', 'text/javascript'],
      ['MZ', 'a.exe', 'application/octet-stream'],
    ] as const)
      refused(await send(bytes, name, declared), 415, 'file_type')
  })
})
const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

describe('The name of a file', () => {
  const names: [string, string][] = [
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['C:\\Users\\me\\a.txt', 'a.txt'],
    ['..', 'file'],
    ['', 'file'],
    ['a\r\nSet-Cookie: x=1.txt', 'aSet-Cookie: x=1.txt'],
    ['fdp\u202etxt.txt', 'fdptxt.txt'],
    ['"quoted"; filename=evil.txt', '"quoted"; filename=evil.txt'],
    ['..%2f..%2fa.txt', '..%2f..%2fa.txt'],
    ['名前.txt', '名前.txt'],
    ["it's (1) *.txt", "it's (1) *.txt"],
  ]

  it('is its last part, and cannot break a header', async () => {
    for (const [given, kept] of names) {
      const { documentID } = await create()
      const body = { documentID, fileName: given, content: 'aGVsbG8=' }
      const reply = await admin.post('/Document/File', body)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.data.fileName, kept)
      const { headers } = await getBytes(admin, pathOf(documentID))
      const value = headers.get('content-disposition') ?? ''
      const match = /^attachment; filename="[\w.() -]*"; filename\*=UTF-8''([\w.!~%-]+)$/.exec(
        value,
      )
      assert.ok(match, value)
      assert.equal(decodeURIComponent(match[1]!), kept)
      assert.equal(headers.get('set-cookie'), null)
    }
    const { documentID } = await create()
    const long = { documentID, fileName: 'x'.repeat(300), content: 'aGVsbG8=' }
    refused(await admin.post('/Document/File', long), 400, 'too_long')
    refused(await admin.post('/Document/File', { ...long, fileName: 'a\0.txt' }), 400)
  })

  it('in a form may hold what it likes, too', async () => {
    const { documentID } = await create()
    const body =
      `--b\r\nContent-Disposition: form-data; name="documentID"\r\n\r\n${documentID}\r\n` +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="../../x\0y.txt"\r\n' +
      'Content-Type: text/plain\r\n\r\nhello\r\n--b--\r\n'
    const reply = await sendRaw(
      service.url,
      'POST /Document/File HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\n' +
        `Authorization: ${admin.token}\r\n` +
        `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    )
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.data.fileName, 'xy.txt')
  })
})

describe('The password of a document', () => {
  const file = { fileName: 'a.txt', contentType: 'text/plain', content: 'aGVsbG8=' }
  const protectedBy = async (password: string, more: object = {}) => {
    const { documentID } = await create({ password, ...more })
    await admin.post('/Document/File', { documentID, ...file })
    return `/Document/File?DocumentID=${documentID}`
  }

  it('is needed for the file by everybody, and for the record by nobody', async () => {
    const path = await protectedBy('pässwörd 密', { isPublic: true })
    for (const client of [admin, service.anyone]) {
      refused(await client.get(path), 403, 'password_required')
      refused(await client.get(path, { 'X-Document-Password': 'wrong' }), 403, 'password_wrong')
      const header = Buffer.from('pässwörd 密').toString('latin1')
      assert.equal((await client.get(path, { 'X-Document-Password': header })).status, 200)
      const raw = await getBytes(client, path, { 'X-Document-Password': header })
      assert.equal(raw.bytes.toString(), 'hello')
      assert.equal((await client.get(path.replace('/File', ''))).status, 200)
    }
  })

  it('can be tried ten times, then not for a while; no other document is concerned', async () => {
    const path = await protectedBy('right')
    const tries = await Promise.all(
      Array.from({ length: 14 }, () => admin.get(path, { 'X-Document-Password': 'wrong' })),
    )
    const statuses = tries.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [...Array(10).fill(403), ...Array(4).fill(429)])
    const late = await admin.get(path, { 'X-Document-Password': 'right' })
    refused(late, 429, 'too_many_failures')
    assert.ok(Number(late.headers.get('retry-after')) > 0)
    const other = await protectedBy('right')
    assert.equal((await admin.get(other, { 'X-Document-Password': 'right' })).status, 200)
  })
})
