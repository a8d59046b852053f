import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Service, startService } from '../support/service.ts'

describe('The reference page', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())
  const read = async (path: string) => {
    const answer = await fetch(`${service.url}${path}`)
    assert.equal(answer.status, 200, path)
    return { text: await answer.text(), headers: answer.headers }
  }

  it('has our name, and a bar to sign in with, from this server alone', async () => {
    const { text, headers } = await read('/docs')
    assert.match(text, /<title>Registry Platform<\/title>/)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'self'/)
    const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, place]) => place!)
    assert.deepEqual(
      assets.filter((place) => /^(https?:)?\/\//.test(place)),
      [],
    )
    const own = assets.filter((place) => place.includes('/theme/'))
    assert.deepEqual(own.map((place) => place.split('/').at(-1)).sort(), [
      'icon.svg',
      'ours.css',
      'sign-in.js',
    ])
    const { text: script } = await read('/docs/static/theme/sign-in.js')
    assert.doesNotThrow(() => new Function(script))
    assert.match(script, /sessionStorage/)
    assert.match(script, /writes to this registry/)
  })

  it('has nothing armed: an operation is tried when the reader asks for it', async () => {
    const { text } = await read('/docs/static/swagger-initializer.js')
    assert.match(text, /"tryItOutEnabled":\s*false/)
    assert.match(text, /data:image\/svg\+xml/)
  })
})
