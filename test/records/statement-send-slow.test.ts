import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { configure, fundOf, keyOf } from '../support/distribution.ts'
import { only } from '../support/ledger.ts'
import { mailedFund, mailingOf, startMail } from '../support/mailing.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

const [ann, ben] = ['ann@example.com', 'ben@example.com'] as const

let mail: Awaited<ReturnType<typeof startMail>>
let tarpit: Awaited<ReturnType<typeof startTarpit>>
let service: Service
let mailing: ReturnType<typeof mailingOf>
before(async () => {
  mail = await startMail()
  tarpit = await startTarpit(Number(new URL(mail.url).port))
  service = await startService(settings(mail.url))
  mailing = mailingOf(service, await mailedFund(service))
})
after(async () => {
  await service.stop()
  tarpit.stop()
  await mail.stop()
})

const folder = temporaryFolder()
const settings = (url: string) => ({
  REGISTRY_DATA_DIR: folder,
  REGISTRY_SMTP_URL: url,
  REGISTRY_STAGE_INLINE: '1',
})

/** The states of all letters of a mailing, once none of them waits any more. */
const statesInTheEnd = async (reportID: number) => {
  const rows = await until('all to be sent', async () => {
    await rowsOf(service.connection, soon)
    const now = await mailing.deliveries(reportID)
    return now.some(({ state }) => ['Queued', 'Sending'].includes(state)) ? undefined : now
  })
  return rows.map(({ state }) => state)
}

/** Starts a proxy to a mail server; while it stalls, it never ends its first answer. */
async function startTarpit(port: number) {
  const state = { stalls: true, stalled: 0 }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (!state.stalls) {
      const behind = connect(port, '127.0.0.1')
      behind.on('error', () => {})
      return void socket.pipe(behind).pipe(socket)
    }
    state.stalled++
    socket.write('220 At your service\r\n')
    const timer = setInterval(() => socket.write('250-A moment\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as { port: number }
  return { url: `smtp://127.0.0.1:${own}`, state, stop: () => server.close() }
}

describe('A mail server that takes its time', () => {
  it('does not keep stages of distributions waiting', async () => {
    const fund = await fundOf(service, [100, 200, 300])
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 0.1 })
    const stopWorker = await workFor(service, settings(mail.url))
    const letGo = mail.hold(ann)
    try {
      const mailings = [await mailing.statements(), await mailing.statements()]
      for (const reportID of mailings) await mailing.send(reportID)
      await until('both to be under way', async () => {
        const all = await Promise.all(mailings.map(mailing.deliveries))
        return all.every((rows) => rows.some(({ state }) => state === 'Sending'))
      })
      const key = keyOf(distribution)
      const declared = await service.admin.post('/Distribution/Declare', key)
      assert.equal(declared.status, 202, declared.text)
      await until('it to be declared', async () => {
        const query = `ProductID=${key.productID}&CorporateActionID=${key.corporateActionID}`
        return only(await service.admin.get(`/Distribution?${query}`)).distributionStatusID === 2
      })
      // It has not been waited for: nor has anybody given it up.
      const [first] = await mailing.deliveries(mailings[0]!)
      assert.equal(first!.state, 'Sending')
      letGo()
      for (const reportID of mailings) await mailing.settled(reportID)
    } finally {
      letGo()
      await stopWorker()
    }
  })

  it('costs no letter by the time that another one waits for it', async () => {
    mail.inbox.length = 0
    const stopWorker = await workFor(service, settings(mail.url), { mailPatience: 12_000 })
    const letGo = mail.hold(ann)
    try {
      const mailings = [await mailing.statements(), await mailing.statements()]
      for (const reportID of mailings) await mailing.send(reportID)
      const first = async () =>
        (await Promise.all(mailings.map(mailing.deliveries))).map(([one]) => one!)
      await until('one to go back while the other is under way', async () =>
        (await first()).some(({ reason }) => /busy with another letter/.test(reason ?? '')),
      )
      assert.deepEqual((await first()).map(({ state }) => state).sort(), ['Queued', 'Sending'])
      letGo()
      for (const reportID of mailings) {
        const states = await statesInTheEnd(reportID)
        assert.deepEqual(states, ['Sent', 'Failed', 'Print', 'NoAddress', 'Sent'])
      }
      assert.equal(mail.inbox.length, 4)
    } finally {
      letGo()
      await stopWorker()
    }
  })

  it('keeps no letter that it was not shown from a process that ends', async () => {
    mail.inbox.length = 0
    const stopFirst = await workFor(service, settings(mail.url))
    const letGo = mail.hold(ann)
    const reportID = await mailing.statements()
    await mailing.send(reportID)
    await until('the first to be there', () => mail.inbox.length > 0)
    await stopFirst()
    letGo()
    const left = (await mailing.deliveries(reportID)).map(({ state }) => state)
    assert.deepEqual(left, ['Failed', 'Queued', 'Print', 'NoAddress', 'Queued'])
    const stopNext = await workFor(service, settings(mail.url))
    await mailing.settled(reportID).finally(stopNext)
    assert.deepEqual(
      mail.inbox.map(({ to }) => to),
      [ann, ben],
    )
  })

  it('is given up when it never ends an answer, and no letter counts as lost by it', async () => {
    mail.inbox.length = 0
    const env = settings(tarpit.url)
    const stopWorker = await workFor(service, env, { mailPatience: 300 })
    try {
      const reportID = await mailing.statements()
      await mailing.send(reportID)
      await until('it to stall time and again', async () => {
        await rowsOf(service.connection, soon)
        return tarpit.state.stalled > 6
      })
      const [first] = await mailing.deliveries(reportID)
      assert.match(String(first!.reason), /did not finish in time/)
      tarpit.state.stalls = false
      const states = await statesInTheEnd(reportID)
      assert.deepEqual(states, ['Sent', 'Failed', 'Print', 'NoAddress', 'Sent'])
      assert.deepEqual(
        mail.inbox.map(({ to }) => to),
        [ann, ben],
      )
    } finally {
      await stopWorker()
    }
  })
})

/** Makes all letters that wait for another attempt due now. */
const soon = `
  update graphile_worker._private_jobs set run_at = now() where locked_at is null and attempts > 0`
