import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes, X509Certificate } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { get } from 'node:https'
import { connect as connectPlainly, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import { buildApp } from '../../src/app.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, withService } from '../support/service.ts'

type Environment = Record<string, string>

/** The error message for a wrong environment. */
function complaint(env: Environment): string {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message
  }
  return ''
}

const folder = mkdtempSync(join(tmpdir(), 'registry-config-'))
const cert = join(folder, 'cert.pem')
const key = join(folder, 'key.pem')
const otherKey = join(folder, 'other-key.pem')
const noPem = join(folder, 'no.pem')
const openssl = (...args: string[]) => spawnSync('openssl', args).status === 0
const skip = !openssl('version') && 'there is no openssl here to make a certificate with'

function makeCertificate(certificate: string, its: string) {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-batch']
  const host = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  assert.ok(openssl('req', '-x509', ...curve, ...host, '-keyout', its, '-out', certificate))
}

before(() => {
  if (skip) return
  makeCertificate(cert, key)
  assert.ok(openssl('genpkey', '-algorithm', 'ed25519', '-out', otherKey))
  writeFileSync(noPem, 'this is no certificate')
})
after(() => rmSync(folder, { recursive: true }))

describe('The configuration', () => {
  it('of an empty environment is safe: loopback, limits, no defaults for secrets', () => {
    const config = readConfig({})
    assert.deepEqual(
      [config.host, config.port, config.maxPageSize, config.maxBodyBytes, config.rateLimit],
      ['127.0.0.1', 3000, 1000, 10 * 1024 * 1024, 0],
    )
    assert.equal(config.dataDir, join(process.cwd(), 'data'))
    assert.equal(config.logLevel, 'info')
    const secrets = [
      config.databaseUrl,
      config.adminPassword,
      config.jwtSecret,
      config.metricsToken,
    ]
    assert.deepEqual([...secrets, config.encryptionKey, config.tls], Array(6).fill(undefined))
    assert.deepEqual(readConfig({ HOST: ' ', PORT: '', REGISTRY_JWT_SECRET: '' }), config)
  })

  const bad: [string, ...string[]][] = [
    ['PORT', 'x', '-1', '65536', '80.5', '1e3', '0x50'],
    [
      'DATABASE_URL',
      'mysql://x',
      'localhost',
      '/tmp',
      'postgres://a:b#c@h/d',
      'postgres://h:99999',
    ],
    ['REGISTRY_DATABASE_CONNECTIONS', '0', '501', 'many'],
    ['REGISTRY_READ_DATABASE_URL', 'standby:5432', 'postgres://one two'],
    ['REGISTRY_PREPARE_STATEMENTS', 'yes', '1'],
    ['REGISTRY_BEHIND_PROXY', 'yes', 'on'],
    ['REGISTRY_JWT_SECRET', 'short', 'x'.repeat(31)],
    ['REGISTRY_ENCRYPTION_KEY', 'short', Buffer.alloc(31).toString('base64')],
    ['REGISTRY_TIME_ZONE', 'Sydney', '+10:00'],
    ['REGISTRY_MAX_PAGE_SIZE', '0', '100001', 'all'],
    ['REGISTRY_MAX_BODY_BYTES', '10', '10MB'],
    ['REGISTRY_LOG_LEVEL', 'loud', 'INFO'],
    ['REGISTRY_RATE_LIMIT', '-1', 'fast'],
    ['REGISTRY_METRICS_TOKEN', 'short'],
    [
      'REGISTRY_SMTP_FROM',
      'registry',
      'Registry <mail@example.com>',
      'a@example.com,b@example.com',
    ],
    ['REGISTRY_ADMIN_USERNAME', 'x'.repeat(101)],
    ['REGISTRY_ADMIN_PASSWORD', 'eleven char', 'x'.repeat(257)],
    ['REGISTRY_TLS_CERT', '/nowhere/cert.pem'],
    ['REGISTRY_TLS_KEY', '/nowhere/key.pem'],
  ]
  for (const [name, ...values] of bad)
    it(`refuses a bad ${name} by its name, and does not repeat a secret`, () => {
      for (const value of values) {
        const words = complaint({ REGISTRY_ADMIN_USERNAME: 'admin', [name]: value })
        assert.match(words, new RegExp(`^Configuration: (.*; )?${name} `), `${value}: ${words}`)
        if (/SECRET|PASSWORD|TOKEN|_KEY$/.test(name) && !value.startsWith('/'))
          assert.ok(!words.includes(value))
      }
    })

  it('takes a DATABASE_URL in every form of the driver, and repeats none of a bad one', () => {
    for (const rest of ['a:b%23c@h:5432/d', 'a:b@/d?host=/run/postgresql', '/d?host=/run', 'h'])
      assert.ok(readConfig({ DATABASE_URL: `postgres://${rest}` }).databaseUrl)
    const words = complaint({ DATABASE_URL: 'postgres://registry:my#secret@h/d' })
    assert.match(words, /DATABASE_URL is not a valid URL: .*%23 for #/)
    assert.doesNotMatch(words, /my|secret/)
  })

  it('refuses two values where one is wanted, and tells keys apart by commas alone', () => {
    const newKey = () => randomBytes(32).toString('base64')
    const [one, two] = [newKey(), newKey()]
    const url = 'postgres://a:secret@h/d'
    for (const [name, given, words] of [
      ['DATABASE_URL', `${url} ${url}2`, /DATABASE_URL must be one URL, .*%20/],
      ['REGISTRY_MIGRATION_DATABASE_URL', `${url}\n${url}2`, /_DATABASE_URL must be one URL, /],
      ['REGISTRY_ENCRYPTION_KEY', `${one},${two}`, /_KEY must be one key/],
      ['REGISTRY_ENCRYPTION_KEY', `${one} ${two}`, /_KEY must be one key/],
      ['REGISTRY_ENCRYPTION_KEY', ',', /_KEY must be one key/],
      ['REGISTRY_PREVIOUS_ENCRYPTION_KEYS', `${one} ${two}`, /_KEYS must be keys .*by commas/],
      ['REGISTRY_PREVIOUS_ENCRYPTION_KEYS', `${one}\n${two}`, /_KEYS must be keys .*by commas/],
    ] as const) {
      const told = complaint({ [name]: given })
      assert.match(told, words)
      for (const part of [one, two, 'secret']) assert.ok(!told.includes(part))
    }
    const right = {
      REGISTRY_ENCRYPTION_KEY: ` "${one}" `,
      REGISTRY_PREVIOUS_ENCRYPTION_KEYS: `${one}, ${two.replace('=', '')},`,
      REGISTRY_READ_DATABASE_URL: `${url} ${url}2`,
    }
    assert.equal(complaint(right), '')
    assert.equal(readConfig(right).previousEncryptionKeys.length, 2)
    assert.deepEqual(readConfig(right).readDatabaseUrls, [url, `${url}2`])
  })

  it('names everything that is wrong at once', () => {
    const words = complaint({ PORT: 'x', REGISTRY_RATE_LIMIT: 'x', HOST: '0.0.0.0' })
    for (const name of ['PORT', 'REGISTRY_RATE_LIMIT', 'HOST']) assert.ok(words.includes(name))
  })

  it('wants a username with a password', () => {
    const words = complaint({ REGISTRY_ADMIN_PASSWORD: 'a good password' })
    assert.match(words, /REGISTRY_ADMIN_USERNAME is needed/)
  })
})

describe('Plain HTTP', () => {
  it('is for loopback addresses, or behind a proxy that speaks TLS', () => {
    for (const HOST of ['127.0.0.1', '127.1.2.3', 'localhost', '::1'])
      assert.equal(complaint({ HOST }), '')
    for (const HOST of ['0.0.0.0', '::', '192.168.1.1', 'example.com', '127.evil.com']) {
      assert.match(complaint({ HOST }), /HOST .* REGISTRY_TLS_CERT and REGISTRY_TLS_KEY/)
      assert.equal(complaint({ HOST, REGISTRY_BEHIND_PROXY: 'true' }), '')
    }
  })

  it('gives way to TLS where there are a certificate and its key', { skip }, () => {
    const HOST = '0.0.0.0'
    const files = { REGISTRY_TLS_CERT: cert, REGISTRY_TLS_KEY: key }
    assert.equal(complaint({ HOST, ...files }), '')
    assert.match(complaint({ REGISTRY_TLS_CERT: cert }), /needed together/)
    assert.match(complaint({ REGISTRY_TLS_KEY: key }), /needed together/)
    for (const wrong of [{ REGISTRY_TLS_KEY: otherKey }, { REGISTRY_TLS_CERT: noPem }])
      assert.match(
        complaint({ HOST, ...files, ...wrong }),
        /REGISTRY_TLS_CERT and REGISTRY_TLS_KEY/,
      )
  })
})

describe('The service over TLS', { skip }, () => {
  it('answers as over HTTP, with every limit, and to nobody who does not speak TLS', async () => {
    const { app, url, port, stop } = await startSecured()
    try {
      assert.match(url, /^https:/)
      const { status, headers } = await secureGet(`${url}/Common/HealthCheck`)
      assert.equal(status, 200)
      assert.match(String(headers['strict-transport-security']), /max-age=\d+/)
      assert.deepEqual(
        [app.server.headersTimeout, app.server.requestTimeout, app.server.keepAliveTimeout],
        [10_000, 60_000, 65_000],
      )
      assert.equal(await oldest(port), 'refused')
      assert.equal(await plainAnswer(port), '')
    } finally {
      await stop()
    }
  })

  it('shows a certificate that was renewed, once its key is there', async () => {
    const { url, port, stop } = await startSecured()
    try {
      const before = await shown(port)
      const [renewed, itsKey] = [join(folder, 'renewed.pem'), join(folder, 'renewed-key.pem')]
      makeCertificate(renewed, itsKey)
      copyFileSync(renewed, cert)
      assert.deepEqual(await shown(port), before)
      copyFileSync(itsKey, key)
      const { raw } = new X509Certificate(readFileSync(renewed))
      await until('the new one to be shown', async () => raw.equals(await shown(port)))
      assert.equal((await secureGet(`${url}/Common/HealthCheck`)).status, 200)
    } finally {
      await stop()
    }
  })

  it('lets go of a client that reads no more of its answer, as over HTTP', async () => {
    const { app, port, stop } = await startSecured()
    const served: Socket[] = []
    app.server.on('secureConnection', (socket: Socket) => served.push(socket))
    const client = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
    try {
      client.pause()
      client.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50))
      await until('its time to run', () => served.some(({ timeout }) => timeout === 60_000))
    } finally {
      client.destroy()
      await stop()
    }
  })

  async function startSecured() {
    const config = readConfig({
      PORT: '0',
      REGISTRY_DATA_DIR: folder,
      REGISTRY_LOG_LEVEL: 'silent',
      REGISTRY_TLS_CERT: cert,
      REGISTRY_TLS_KEY: key,
    })
    const log = createLog(config.logLevel)
    const database = connect(config, await freshDatabase(), log)
    const app = await buildApp(config, database, log)
    const url = await app.listen({ host: config.host, port: 0 })
    const stop = async () => {
      await app.close()
      await database.close()
    }
    return { app, url, port: Number(new URL(url).port), stop }
  }

  /** The certificate that a new connection gets. */
  const shown = (port: number) =>
    new Promise<Buffer>((resolve, reject) => {
      const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
      socket.on('error', reject)
      socket.on('secureConnect', () => {
        resolve(socket.getPeerX509Certificate()!.raw)
        socket.end()
      })
    })

  type Answered = { status: number | undefined; headers: IncomingHttpHeaders }
  const secureGet = (url: string) =>
    new Promise<Answered>((resolve, reject) => {
      const call = get(url, { ca: readFileSync(cert), agent: false }, (answer) => {
        answer.resume()
        resolve({ status: answer.statusCode, headers: answer.headers })
      })
      call.on('error', reject)
    })

  const oldest = (port: number) =>
    new Promise<string>((resolve) => {
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false } as const
      const socket = connectSecurely({ ...options, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })
      socket.on('secureConnect', () => resolve('accepted'))
      socket.on('error', () => resolve('refused'))
    })

  const plainAnswer = (port: number) =>
    new Promise<string>((resolve) => {
      const socket = connectPlainly({ port, host: '127.0.0.1' })
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(answer))
      socket.write('GET /Common/HealthCheck HTTP/1.1\r\nHost: x\r\n\r\n')
    })
})

describe('A rate limit', () => {
  it('counts each user by themselves, and says when to come again', () =>
    withService({ REGISTRY_RATE_LIMIT: '5' }, async (service) => {
      const reader = await service.userWith({ role: 'ReadOnly' })
      for (let i = 0; i < 5; i++) assert.equal((await reader.get('/Product')).status, 200)
      const reply = await reader.get('/Product')
      refused(reply, 429, 'rate_limit')
      const wait = Number(reply.headers.get('retry-after'))
      assert.ok(wait > 0 && wait <= 60)
      refused(await reader.post('/User/Logout'), 429, 'rate_limit')
      assert.equal((await service.admin.get('/Product')).status, 200)
    }))

  it('counts what is refused for its permission, its token or its version as well', () =>
    withService({ REGISTRY_RATE_LIMIT: '5' }, async (service) => {
      const reader = await service.userWith({ role: 'ReadOnly' })
      for (let i = 0; i < 5; i++) refused(await reader.post('/Product'), 403, 'permission_missing')
      refused(await reader.post('/Product'), 429, 'rate_limit')
      refused(await reader.get('/Product'), 429, 'rate_limit')
      const guess = (Authorization: string) => service.anyone.get('/Product', { Authorization })
      // Two sign-ins were the first requests of this address.
      for (let i = 0; i < 2; i++) refused(await guess(`guess-${i}`), 401, 'token_invalid')
      refused(await service.anyone.get('/Product', { Version: '1.0' }), 400, 'version')
      const reply = await guess('guess-3')
      refused(reply, 429, 'rate_limit')
      assert.ok(Number(reply.headers.get('retry-after')) > 0)
      refused(await service.anyone.get('/Product', { Version: '1.0' }), 429, 'rate_limit')
      assert.equal((await service.admin.get('/Product')).status, 200, 'who is signed in goes on')
    }))

  const from = ({ anyone }: Service, address: string) =>
    anyone.get('/Common/Lookup?Category=State', { 'X-Forwarded-For': address })

  it('counts strangers by their address, which they cannot choose', () =>
    withService({ REGISTRY_RATE_LIMIT: '5' }, async (service) => {
      for (let i = 0; i < 4; i++)
        assert.equal((await from(service, `203.0.113.${i}`)).status, 200, 'sign-in was the first')
      refused(await from(service, '203.0.113.99'), 429, 'rate_limit')
    }))

  it('counts strangers behind a proxy by the address that it saw', () =>
    withService({ REGISTRY_RATE_LIMIT: '5', REGISTRY_BEHIND_PROXY: 'true' }, async (service) => {
      for (let i = 0; i < 5; i++)
        assert.equal((await from(service, `198.51.100.${i}, 203.0.113.7`)).status, 200)
      refused(await from(service, '203.0.113.7'), 429, 'rate_limit')
      assert.equal((await from(service, '203.0.113.8')).status, 200)
    }))

  it('counts strangers of one IPv6 network as one, and IPv4 ones by their own address', () =>
    withService({ REGISTRY_RATE_LIMIT: '5', REGISTRY_BEHIND_PROXY: 'true' }, async (service) => {
      const sixes = ['2001:db8::1:2:3:4', '2001:db8::9:2:3:4', '2001:DB8::1', '2001:0db8:0:0:5::']
      for (const address of [...sixes, '2001:db8:0::6'])
        assert.equal((await from(service, address)).status, 200)
      refused(await from(service, '2001:db8::7:0:0:8'), 429, 'rate_limit')
      assert.equal((await from(service, '2001:db8:0:1::1')).status, 200)
      const four = [
        '198.51.100.1',
        '::ffff:198.51.100.1',
        '::ffff:c633:6401',
        '::FFFF:198.51.100.1',
      ]
      for (const address of [...four, '198.51.100.1'])
        assert.equal((await from(service, address)).status, 200)
      refused(await from(service, '198.51.100.1'), 429, 'rate_limit')
      assert.equal((await from(service, '::ffff:198.51.100.2')).status, 200)
    }))

  it('is off where none is asked for', () =>
    withService({}, async ({ anyone }) => {
      const calls = Array.from({ length: 200 }, () => anyone.get('/Common/HealthCheck'))
      assert.ok((await Promise.all(calls)).every(({ status }) => status === 200))
    }))
})
