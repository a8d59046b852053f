import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { clientOf } from '../support/client.ts'
import {
  accessOf,
  answerJudge,
  bodyOf,
  type Document,
  goldenOperations,
  readDocument,
  resolved,
  type Served,
  servedBy,
} from '../support/openapi.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService, withService } from '../support/service.ts'

let service: Service
let document: Document
let served: Served[]
before(async () => {
  service = await startService()
  document = await readDocument(service.anyone)
  served = servedBy(document)
})
after(() => service.stop())

describe('Every operation', () => {
  it('is in the golden list, for those who are to call it', () => {
    const names = served.map(({ name, operation }) => `${name}: ${accessOf(operation)}`)
    const expected = [...goldenOperations()].map(([name, access]) => `${name}: ${access}`)
    assert.deepEqual(names.sort(), expected.sort())
  })

  it('is 400 with another version or none', async () => {
    for (const { method, path, operation } of served) {
      if (!operation.parameters.some(({ name }) => name === 'Version')) continue
      for (const Version of [undefined, '1.0'])
        refused(await service.admin.call(method, path, undefined, { Version }), 400, 'version')
    }
  })

  it('is 400 with a parameter that it does not know', async () => {
    for (const { name, method, path } of served) {
      const reply = await service.admin.call(method, `${path}?NoSuchThing=1`)
      assert.equal(reply.status, 400, `${name}: ${reply.text}`)
      assert.ok(reply.errors.some(({ field }) => field === 'NoSuchThing'))
    }
  })

  it('with a body refuses what is none, in the envelope', async () => {
    for (const { name, method, path, operation } of served) {
      if (!operation.requestBody) continue
      for (const body of ['{', 'null', '5', '"x"', '[[]]', '[null]', '{"\\u0000":1}']) {
        const reply = await service.admin.call(method, path, body)
        assert.equal(reply.status, 400, `${name} ${body}: ${reply.text}`)
        refused(reply, 400)
      }
    }
  })
})

describe('The document', () => {
  it('is valid OpenAPI 3.1', async () => {
    assert.equal(document.openapi, '3.1.0')
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    assert.ok(valid, JSON.stringify(errors))
  })

  it('tells of every operation what it does, takes and answers', () => {
    const ids = served.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    for (const { name, method, path, operation } of served) {
      assert.match(operation.summary, /^[A-Z].*\.$/, name)
      assert.deepEqual(operation.tags, [path.split('/')[1]])
      for (const { name: parameter, schema } of operation.parameters)
        assert.ok(schema.type ?? schema.$ref, `${name} ${parameter}`)
      const { '200': success, '202': _taken, ...failures } = operation.responses
      const { properties = {} } = success!.content['application/json']!.schema
      assert.ok(properties.result && properties.data, name)
      for (const [status, { content, description }] of Object.entries(failures)) {
        assert.ok(description, `${name} ${status}`)
        const { allOf = [] } = resolved(document, content['application/json']!.schema)
        assert.equal(allOf[0]?.$ref, '#/components/schemas/Failure', `${name} ${status}`)
      }
      assert.equal(Boolean(operation.security), accessOf(operation) !== 'public', name)
      const writes = method !== 'GET' && !/\.Read$/.test(accessOf(operation))
      const keyed = operation.parameters.some(({ name }) => name === 'Idempotency-Key')
      assert.equal(keyed, writes && name !== 'POST /User/Login', name)
    }
  })

  it('has an example of every body, and every example is valid by its schema', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(document, 'api')
    for (const { name, operation } of served) {
      const body = bodyOf(operation)
      if (body)
        assert.ok(resolved(document, body.oneOf?.[0] ?? body).example, `${name} has no example`)
    }
    for (const [name, { example }] of Object.entries(document.components.schemas)) {
      if (example === undefined) continue
      const fits = ajv.validate({ $ref: `api#/components/schemas/${name}` }, example)
      assert.ok(fits, `${name}: ${ajv.errorsText()}`)
    }
  })

  it('is what answers keep to, field by field', async () => {
    const judge = answerJudge(document)
    await service.admin.post('/Product', { name: 'Something to show' })
    for (const one of served.filter(({ method }) => method === 'GET')) {
      const { status, text } = await service.admin.get(one.path)
      assert.equal(judge(one, status, JSON.parse(text)), undefined, `${one.name}: ${text}`)
    }
  })
})

describe('The reference page', () => {
  it('and all that it loads come from here, and from nowhere else', async () => {
    const page = await fetch(`${service.url}/docs`)
    assert.equal(page.status, 200)
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'self'/)
    assert.doesNotMatch(policy, /https?:|\*/)
    const html = await page.text()
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!)
    assert.ok(links.length > 3)
    for (const link of links) {
      assert.doesNotMatch(link, /^(https?:)?\/\//)
      const asset = await fetch(new URL(link, `${service.url}/docs/`))
      assert.equal(asset.status, 200, link)
      assert.ok((await asset.text()).length > 0)
    }
    const start = await (await fetch(`${service.url}/docs/static/swagger-initializer.js`)).text()
    assert.doesNotMatch(start.replace(/^\s*\/\/.*$/gm, ''), /https?:\/\//)
  })
})

describe('The metrics', () => {
  const scrape = (url: string, headers: Record<string, string> = {}) =>
    clientOf(url).get('/metrics', headers)
  const forwarded = { 'X-Forwarded-For': '203.0.113.7' }

  it('are for this machine, and not for whom a proxy on it calls', async () => {
    const reply = await scrape(service.url)
    assert.equal(reply.status, 200)
    assert.match(reply.headers.get('content-type') ?? '', /^text\/plain/)
    refused(await scrape(service.url, forwarded), 403)
    refused(await scrape(service.url, { Forwarded: 'for=203.0.113.7' }), 403)
    refused(await scrape(service.url, { ...forwarded, Authorization: 'Bearer undefined' }), 403)
  })

  it('are for who holds the token, from anywhere', async () => {
    const token = 'a token for the metrics'
    const check = async ({ url }: Service) => {
      for (const Authorization of [token, `Bearer ${token}`])
        assert.equal((await scrape(url, { ...forwarded, Authorization })).status, 200)
      refused(await scrape(url, { ...forwarded, Authorization: `${token}!` }), 403)
      assert.equal((await scrape(url, { Authorization: 'something else' })).status, 200)
    }
    await withService({ REGISTRY_METRICS_TOKEN: token }, check, service.connection)
  })

  it('tell of requests by route and status, of the pool and of the event loop', async () => {
    await service.admin.get('/Product?ProductID=1')
    await service.admin.get('/Secret/Path')
    const { text } = await scrape(service.url)
    const label = 'method="GET",route="/Product",status="200"'
    assert.match(text, new RegExp(`http_request_duration_seconds_count\\{${label}\\} \\d`))
    assert.match(text, /http_request_duration_seconds_bucket\{le="0.005",/)
    assert.match(text, /status="404"/)
    assert.match(text, /database_connections\{state="idle"\} \d/)
    assert.match(text, /nodejs_eventloop_lag_seconds/)
    assert.doesNotMatch(text, /Secret.Path/)
  })
})
