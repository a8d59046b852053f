import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { endWaiting, rowsOf } from '../support/database.ts'
import { type Delivery, mailedFund, mailingOf, startMail } from '../support/mailing.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, quoted, taxingFund } from '../support/withholding.ts'

const [ann, ben] = ['ann@example.com', 'ben@example.com'] as const

let mail: Awaited<ReturnType<typeof startMail>>
let env: Record<string, string>
let service: Service
let stopWorker: () => Promise<void>
let mailing: ReturnType<typeof mailingOf>
before(async () => {
  mail = await startMail()
  env = { REGISTRY_DATA_DIR: temporaryFolder(), REGISTRY_SMTP_URL: mail.url }
  service = await startService(env)
  stopWorker = await workFor(service, env)
  mailing = mailingOf(service, await mailedFund(service))
})
after(async () => {
  await stopWorker()
  await service.stop()
  await mail.stop()
})

const arrived = (to: string) => until(to, () => mail.inbox.some((one) => one.to === to))
const states = (rows: Delivery[]) => rows.map(({ state }) => state)
const allSent = ['Sent', 'Failed', 'Print', 'NoAddress', 'Sent']

/** Makes all letters that wait for another attempt due now. */
const soon = `
  update graphile_worker._private_jobs set run_at = now() where locked_at is null and attempts > 0`

/** Sends statements, and waits until a slow mail server has received the first letter. */
async function sendSlowly(...to: string[]) {
  mail.inbox.length = 0
  const gates = to.map(mail.hold)
  const reportID = await mailing.statements()
  await mailing.send(reportID)
  await arrived(ann)
  return { reportID, gates }
}

describe('Statements that are sent', () => {
  it('are marked anew where they wait behind a slow one: their sender lives', async () => {
    const { reportID, gates } = await sendSlowly(ann, ben)
    const marked = async () => {
      const [row] = await rowsOf(
        service.connection,
        'select state_date::text from report_statement where report_id = $1 and name = $2',
        [reportID, ben],
      )
      return row.state_date as string
    }
    const before = await marked()
    gates[0]!()
    await arrived(ben)
    assert.ok((await marked()) > before)
    gates[1]!()
    assert.deepEqual(states(await mailing.settled(reportID)), allSent)
  })

  it('are not sent by who was away for so long that they were told as lost', async () => {
    const { reportID, gates } = await sendSlowly(ann)
    await rowsOf(
      service.connection,
      `update report_statement set state = 'Failed' where report_id = $1 and name = $2`,
      [reportID, ben],
    )
    gates[0]!()
    assert.deepEqual(states(await mailing.settled(reportID)), [...allSent.slice(0, 4), 'Failed'])
    assert.deepEqual(
      mail.inbox.map(({ to }) => to),
      [ann],
    )
  })

  it('are not sent twice where the connection is lost before the server has answered', async () => {
    mail.inbox.length = 0
    mail.lost.add(ann)
    const reportID = await mailing.statements()
    await mailing.send(reportID)
    const rows = await mailing.settled(reportID)
    mail.lost.clear()
    assert.deepEqual(states(rows), ['Failed', ...allSent.slice(1)])
    assert.match(rows[0]!.reason!, /not known whether it was sent/)
    assert.deepEqual(
      mail.inbox.map(({ to }) => to),
      [ann, ben],
    )
  })

  it('wait for a server that takes nothing from us, however long that is', async () => {
    for (const beDifficult of [mail.beWary, mail.beBusy]) {
      mail.inbox.length = 0
      beDifficult(8)
      const reportID = await mailing.statements()
      await mailing.send(reportID)
      const rows = await until('all to be sent', async () => {
        await rowsOf(service.connection, soon)
        const now = await mailing.deliveries(reportID)
        return now.some(({ state }) => ['Queued', 'Sending'].includes(state)) ? undefined : now
      })
      assert.deepEqual(states(rows), allSent)
      assert.deepEqual(
        mail.inbox.map(({ to }) => to),
        [ann, ben],
      )
    }
  })

  it('are taken a few at a time, whatever the database thinks how many there are', async () => {
    const fund = await taxingFund(service, { issuer: { name: 'Funds', email: 'us@example.com' } })
    for (let n = 100; n < 115; n++)
      await investor(service, fund, [quoted], {
        communications: [{ communicationTypeID: 1, name: `n${n}@example.com` }],
      })
    const many = mailingOf(service, fund)
    await many.statements()
    // As after reports were deleted: there is nothing in the table, and much of it.
    await rowsOf(service.connection, 'delete from report_statement')
    await rowsOf(service.connection, 'analyze report_statement')
    const letGo = mail.hold('n100@example.com')
    const reportID = await many.statements()
    await many.send(reportID)
    await arrived('n100@example.com')
    const sending = states(await many.deliveries(reportID)).filter((one) => one === 'Sending')
    letGo()
    assert.equal(sending.length, 10)
    assert.deepEqual(states(await many.settled(reportID)), Array(15).fill('Sent'))
  })

  it('are sent after the database was away while it was asked who had them sent', async () => {
    const reportID = await mailing.statements()
    await stopWorker()
    await mailing.send(reportID)
    const holder = new pg.Client(service.connection)
    await holder.connect()
    await holder.query('begin; lock table app_user in access exclusive mode')
    stopWorker = await workFor(service, env)
    await until('it to be asked', () => endWaiting(service.connection))
    await holder.end()
    assert.deepEqual(states(await mailing.settled(reportID)), allSent)
  })
})
