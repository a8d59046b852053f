import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { buildConsole } from '../../scripts/run.mjs'
import { adminPassword, type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  await buildConsole()
  service = await startService()
})
after(() => service.stop())

const page = (path: string, headers: Record<string, string> = { Accept: 'text/html' }) =>
  fetch(service.url + path, { headers, redirect: 'manual' })

async function assets(): Promise<string[]> {
  const html = await (await page('/console/')).text()
  return [...html.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path!)
}

const session = (method: string, { body, cookie }: { body?: object; cookie?: string } = {}) =>
  fetch(`${service.url}/console/session`, {
    method,
    headers: {
      Version: '2.0',
      ...(body && { 'Content-Type': 'application/json' }),
      ...(cookie && { Cookie: cookie }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

const signIn = () => session('POST', { body: { username: 'admin', password: adminPassword } })
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? ''

describe('The console', () => {
  it('is where a browser is sent, and nobody else', async () => {
    const sent = await page('/')
    assert.equal(sent.status, 302)
    assert.equal(sent.headers.get('location'), '/console/')
    const told = await page('/', { Accept: 'application/json' })
    assert.equal((await told.json()).data.name, 'Registry Platform')
  })

  it('is one page at every address below /console/', async () => {
    const [first, deep] = await Promise.all([page('/console/'), page('/console/1/investors/7')])
    assert.equal(first.status, 200)
    assert.equal(await first.text(), await deep.text())
  })

  it('runs scripts of its own alone and is shown inside no other page', async () => {
    const policy = (await page('/console/')).headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'(;|$)/)
    assert.match(policy, /frame-ancestors 'none'/)
    const html = await (await page('/console/')).text()
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)/)
    assert.doesNotMatch(html, /https?:\/\//)
  })

  it('is asked for again only when it has changed', async () => {
    const etag = (await page('/console/')).headers.get('etag') ?? ''
    assert.notEqual(etag, '')
    assert.equal((await page('/console/', { 'If-None-Match': etag })).status, 304)
  })

  it('has assets that may be kept for ever, compressed beforehand', async () => {
    for (const path of (await assets()).filter((name) => /\.(js|css)$/.test(name))) {
      const asset = await page(path, { 'Accept-Encoding': 'br' })
      assert.equal(asset.status, 200, path)
      assert.match(asset.headers.get('cache-control') ?? '', /max-age=31536000, immutable/)
      assert.ok(asset.headers.get('etag'))
      const size = (await asset.arrayBuffer()).byteLength
      if (size > 1024) assert.equal(asset.headers.get('content-encoding'), 'br', path)
    }
    assert.equal((await page('/console/assets/no-such.js')).status, 404)
  })

  it('loads at most 250 KB at first', async () => {
    const sizes = await Promise.all(
      (await assets()).map(async (path) => {
        const asset = await page(path, { 'Accept-Encoding': 'br' })
        return Number(asset.headers.get('content-length'))
      }),
    )
    const total = sizes.reduce((sum, size) => sum + size, 0)
    assert.ok(total > 50_000 && total <= 250_000, `${total} bytes`)
  })
})

describe('A session of the console', () => {
  it('keeps the refresh token from scripts and from every other path', async () => {
    const answer = await signIn()
    assert.equal(answer.status, 200)
    const cookie = answer.headers.get('set-cookie') ?? ''
    assert.match(cookie, /; Path=\/console\/session; HttpOnly; SameSite=Strict$/)
    const text = await answer.text()
    assert.doesNotMatch(text, /refreshToken/)
    const { data } = JSON.parse(text)
    assert.equal(data.user.username, 'admin')
    assert.ok(data.user.permissions.includes('User.Write'))
    const headers = { Version: '2.0', Authorization: data.accessToken }
    assert.equal((await fetch(`${service.url}/Product`, { headers })).status, 200)
  })

  it('sends the cookie over TLS alone where the browser speaks TLS', async () => {
    const proxied = await startService({ REGISTRY_BEHIND_PROXY: 'true' })
    try {
      const answer = await fetch(`${proxied.url}/console/session`, {
        method: 'POST',
        headers: { Version: '2.0', 'Content-Type': 'application/json' },
        body: JSON.stringify({ username: 'admin', password: adminPassword }),
      })
      assert.match(answer.headers.get('set-cookie') ?? '', /; Secure$/)
    } finally {
      await proxied.stop()
    }
  })

  it('refuses a wrong password in the words of the API', async () => {
    const answer = await session('POST', { body: { username: 'admin', password: 'wrong' } })
    assert.equal(answer.status, 401)
    assert.equal(answer.headers.get('set-cookie'), null)
    assert.equal((await answer.json()).errors[0].code, 'sign_in_failed')
  })

  it('goes on with its cookie, also when a page asks twice at once', async () => {
    const cookie = cookieOf(await signIn())
    const answers = await Promise.all([session('PUT', { cookie }), session('PUT', { cookie })])
    for (const answer of answers) assert.equal((await answer.json()).data.user.username, 'admin')
    const next = cookieOf(answers[0]!)
    assert.notEqual(next, cookie)
    assert.ok((await (await session('PUT', { cookie: next })).json()).data)
  })

  it('is nobody’s without a cookie, or with one that has ended', async () => {
    assert.equal((await (await session('PUT')).json()).data, null)
    const cookie = cookieOf(await signIn())
    const out = await session('DELETE', { cookie })
    assert.match(out.headers.get('set-cookie') ?? '', /Max-Age=0/)
    assert.equal((await (await session('PUT', { cookie })).json()).data, null)
  })

  it('ends on the server when it is signed out', async () => {
    const answer = await signIn()
    const { data } = await answer.clone().json()
    await session('DELETE', { cookie: cookieOf(answer) })
    const headers = { Version: '2.0', Authorization: data.accessToken }
    for (const begun = Date.now(); Date.now() - begun < 20_000; ) {
      const { status } = await fetch(`${service.url}/Product`, { headers })
      if (status === 401) return
    }
    assert.fail('the access token still works')
  })
})
