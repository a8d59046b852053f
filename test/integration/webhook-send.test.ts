import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import {
  allowedAddress,
  isPublic,
  type Resolve,
  resolveBy,
} from '../../src/integration/webhook/address.ts'
import { send } from '../../src/integration/webhook/send.ts'
import { withReceiver } from '../support/receiver.ts'

/** A DNS answer that gives the address 203.0.113.7 for any name. */
function asAddress(query: Buffer) {
  const asked = query.subarray(0, query.indexOf(0, 12) + 5)
  const answer = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 7]
  const reply = Buffer.concat([asked, Buffer.from(answer)])
  reply.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], 2)
  return reply
}

describe('What is sent', () => {
  const message = { id: 'evt_1', body: '{}', secrets: ['whsec_AAAA'], time: 0 }

  it('goes to no address that a name turns out to stand for, if it is not public', async () => {
    const tricks: [string, number][] = [
      ['127.0.0.1', 4],
      ['10.0.0.1', 4],
      ['192.168.1.1', 4],
      ['169.254.169.254', 4],
      ['100.64.0.1', 4],
      ['0.0.0.0', 4],
      ['::1', 6],
      ['::ffff:127.0.0.1', 6],
      ['64:ff9b::7f00:1', 6],
      ['fe80::1', 6],
      ['fc00::1', 6],
      ['2002:7f00:1::', 6],
    ]
    const url = 'https://trick.example/'
    for (const [address, family] of tricks) {
      assert.equal(isPublic(address), false, address)
      const lies: Resolve = async () => [
        { address: '93.184.215.14', family: 4 },
        { address, family },
      ]
      const call = send({ ...message, url }, { allowLocal: false, resolve: lies })
      await assert.rejects(call, /not public/, address)
    }
    for (const address of ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])
      assert.equal(isPublic(address), true, address)
  })

  it('goes where the name stood for when it was looked at, and nowhere later', async () => {
    let asked = 0
    const rebinding: Resolve = async () => {
      asked++
      return [{ address: asked === 1 ? '93.184.215.14' : '127.0.0.1', family: 4 }]
    }
    const url = new URL('https://rebinding.example/')
    const { address } = await allowedAddress(url, false, rebinding)
    assert.deepEqual([address, asked], ['93.184.215.14', 1])
    await withReceiver(async ({ url: local, got }) => {
      const { port } = new URL(local)
      const once: Resolve = async () => {
        asked++
        return [{ address: '127.0.0.1', family: 4 }]
      }
      asked = 0
      const named = `http://localhost:${port}/`
      await send({ ...message, url: named }, { allowLocal: true, resolve: once })
      assert.deepEqual([got.length, asked], [1, 1])
    })
  })

  it('keeps nobody waiting for name servers that are silent', { timeout: 60_000 }, async () => {
    const silent = createSocket('udp4').bind(0, '127.0.0.1')
    try {
      await once(silent, 'listening')
      const resolve = resolveBy([`127.0.0.1:${silent.address().port}`])
      const url = 'https://dead.example/'
      const options = { allowLocal: false, resolve }
      let ended = 0
      const calls = Array.from({ length: 8 }, async () => {
        await assert.rejects(send({ ...message, url }, options), { code: 'EAI_AGAIN' })
        ended++
      })
      await once(silent, 'message')
      assert.ok((await lookup('localhost')).address)
      assert.equal(ended, 0)
      await Promise.all(calls)
      // What this machine knows by itself needs no name server.
      assert.ok((await resolve('localhost')).length > 0)
    } finally {
      silent.close()
    }
  })

  it('goes by what name servers say that answer about one family of addresses alone', async () => {
    const server = createSocket('udp4').bind(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      server.on('message', (query, { port, address }) => {
        const isOfVersion4 = query.indexOf(Buffer.from([0, 0, 1, 0, 1])) > 0
        if (isOfVersion4) server.send(asAddress(query), port, address)
      })
      const resolve = resolveBy([`127.0.0.1:${server.address().port}`])
      // The machine's own way would ask about both, and wait.
      assert.deepEqual(await resolve('half.example'), [{ address: '203.0.113.7', family: 4 }])
    } finally {
      server.close()
    }
  })

  it('follows no redirect, waits no longer than it may, and reads no endless answer', async () => {
    await withReceiver(async ({ url, got, answer }) => {
      const options = { allowLocal: true, resolve: async () => [] }
      answer(307)
      assert.deepEqual(await send({ ...message, url }, options), { status: 307 })
      assert.equal(got.length, 1)
      answer('never')
      await assert.rejects(
        send({ ...message, url }, { ...options, patience: 100 }),
        /Timeout|abort/i,
      )
    })
    const endless = createServer((_request, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'.repeat(65_536)), 1)
      response.on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
    const { port } = endless.address() as AddressInfo
    const call = send(
      { ...message, url: `http://127.0.0.1:${port}/` },
      { allowLocal: true, resolve: async () => [] },
    )
    try {
      assert.deepEqual(await call, { status: 200 })
    } finally {
      endless.closeAllConnections()
      endless.close()
    }
  })

  it('is a failure where another protocol is answered', { timeout: 30_000 }, async () => {
    const switching = createServer()
    switching.on('request', ({ socket }) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
    await new Promise<void>((resolve) => switching.listen(0, '127.0.0.1', resolve))
    const { port } = switching.address() as AddressInfo
    const options = { allowLocal: true, resolve: async () => [] }
    const call = send({ ...message, url: `http://127.0.0.1:${port}/` }, options)
    try {
      assert.deepEqual(await call, { status: 101 })
    } finally {
      switching.closeAllConnections()
      switching.close()
    }
  })
})
