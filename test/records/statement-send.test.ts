import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { choose, configure, keyOf, stage, takeBack } from '../support/distribution.ts'
import { newProduct, only } from '../support/ledger.ts'
import { type Delivery, mailedFund, mailingOf, startMail } from '../support/mailing.ts'
import { newKey } from '../support/personas.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { ended, order, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, quoted, type TaxingFund, taxingFund } from '../support/withholding.ts'

type Me = { userID: number; username: string; apiKeyID: number }

let mail: Awaited<ReturnType<typeof startMail>>
let env: Record<string, string>
let service: Service
let stopWorker: () => Promise<void>
let fund: TaxingFund
let mailing: ReturnType<typeof mailingOf>
before(async () => {
  mail = await startMail()
  env = { REGISTRY_DATA_DIR: temporaryFolder(), REGISTRY_SMTP_URL: mail.url }
  service = await startService(env)
  stopWorker = await workFor(service, env)
  fund = await mailedFund(service)
  mailing = mailingOf(service, fund)
})
after(async () => {
  await stopWorker()
  await service.stop()
  await mail.stop()
})

describe('POST /Report/Send', () => {
  it('sends nothing of a distribution that was taken back since letters were made', async () => {
    const own = await taxingFund(service, { issuer: { name: 'Own', email: 'own@example.com' } })
    const communications = [{ communicationTypeID: 1, name: 'cleo@example.com' }]
    await investor(service, own, [quoted], { communications })
    const pay = async (paymentDate: string) => {
      const how = { distributionAmountPerUnit: 1, paymentDate }
      const distribution = await configure(service, own, how)
      for (const name of ['Declare', 'Payment'] as const)
        await stage(service.admin, name, distribution)
      return distribution
    }
    const [first] = [await pay('2025-07-15'), await pay('2026-07-15')]
    const made = async (body: object) =>
      (await order(service.admin, { productID: own.productID, format: 'zip', ...body })).reportID
    const slips = await made({ reportTypeID: 8, ...keyOf(first) })
    const year = await made({ reportTypeID: 9, date: '2025-09-30' })
    const other = await made({ reportTypeID: 9, date: '2026-09-30' })
    await stage(service.admin, 'Reverse', first, { fromStatusID: 3, reason: 'Wrong rate' })
    for (const reportID of [slips, year]) {
      const reply = await mailing.send(reportID)
      refused(reply, 409, 'outdated')
      assert.match(reply.message!, new RegExp(`Distribution ${first.corporateActionID},`))
    }
    const passes = async (reportID: number) => {
      assert.equal((await mailing.send(reportID)).status, 200)
      assert.deepEqual(
        (await mailing.settled(reportID)).map(({ state }) => state),
        ['Sent'],
      )
    }
    await passes(other)
    // Paid anew it may be for other amounts: letters of now can go out, those of then cannot.
    await stage(service.admin, 'Payment', first)
    refused(await mailing.send(year), 409, 'outdated')
    await passes(await made({ reportTypeID: 9, date: '2025-09-30' }))
    // What is only taken further since is no reason.
    const declared = await configure(service, own, { distributionAmountPerUnit: 1 })
    await stage(service.admin, 'Declare', declared)
    const early = await made({ reportTypeID: 8, ...keyOf(declared) })
    await stage(service.admin, 'Payment', declared)
    await passes(early)
    mail.inbox.length = 0
    // Letters that still wait when it is taken back stay here as well.
    const waiting = await made({ reportTypeID: 8, ...keyOf(declared) })
    await stopWorker()
    const told = await mailing.send(waiting)
    await takeBack(service.admin, declared, 3)
    stopWorker = await workFor(service, env)
    assert.equal(told.data.queued, 1, told.text)
    const [letter] = await mailing.settled(waiting)
    assert.equal(letter!.state, 'Made')
    assert.match(letter!.reason!, /was taken back since they were made: order them again/)
    assert.deepEqual(mail.inbox, [])
    assert.equal((await service.admin.delete(`/Report?ReportID=${waiting}`)).status, 200)
  })

  it('sends no statements of units whose allotment was taken back since', async () => {
    const own = await taxingFund(service, { issuer: { name: 'Own', email: 'own@example.com' } })
    await investor(service, own, [quoted], { account: { drpTypeID: 2 } })
    const drp = { drpIndicatorID: 2, drpInvestmentID: own.targetID, drpPrice: 7 }
    const distribution = await configure(service, own, { distributionAmountPerUnit: 1, ...drp })
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    const made = async (body: object) =>
      (await order(service.admin, { ...keyOf(distribution), format: 'zip', ...body })).reportID
    const paid = await made({ reportTypeID: 8 })
    await stage(service.admin, 'DrpAllotment', distribution)
    const allotted = await made({ reportTypeID: 8 })
    const year = await made({ reportTypeID: 9, date: '2025-09-30' })
    await takeBack(service.admin, distribution, 4)
    refused(await mailing.send(allotted), 409, 'outdated')
    await stage(service.admin, 'DrpAllotment', distribution, { drpPrice: 8 })
    refused(await mailing.send(allotted), 409, 'outdated')
    // These tell of no units.
    for (const reportID of [paid, year]) assert.equal((await mailing.send(reportID)).status, 200)
    for (const reportID of [paid, year]) await mailing.settled(reportID)
  })

  it('sends no tax statements with residuals whose payment was rolled back since', async () => {
    const own = await taxingFund(service, { issuer: { name: 'Own', email: 'own@example.com' } })
    const holder = await investor(service, own, [quoted], { account: { drpTypeID: 2 } })
    const drp = { drpIndicatorID: 2, drpInvestmentID: own.targetID, drpPrice: 7 }
    const distribution = await configure(service, own, { distributionAmountPerUnit: 1, ...drp })
    for (const name of ['Declare', 'Payment', 'DrpAllotment'] as const)
      await stage(service.admin, name, distribution)
    await choose(service, holder.accountID, 1)
    const body = { investmentID: own.investmentID, date: '2025-09-01' }
    const [paid] = (await service.admin.post('/Distribution/PayResiduals', body)).data
    const made = async (date: string) =>
      (await order(service.admin, { ...keyOf(distribution), format: 'zip', reportTypeID: 9, date }))
        .reportID
    const year = await made('2025-09-30')
    const { bizTransactionID } = paid
    const back = await service.admin.put('/BizTransaction/Rollback', { bizTransactionID })
    assert.equal(back.status, 200, back.text)
    refused(await mailing.send(year), 409, 'outdated')
    const again = await made('2025-09-30')
    assert.equal((await mailing.send(again)).status, 200)
    await mailing.settled(again)
  })

  it('mails each statement once, by preference, and records what the server refuses', async () => {
    const reportID = await mailing.statements()
    const states = (rows: Delivery[]) => rows.map(({ name, state }) => [name, state])
    assert.ok((await mailing.deliveries(reportID)).every(({ state }) => state === 'Made'))
    const told = await mailing.send(reportID)
    assert.deepEqual(told.data, { reportID, queued: 3, print: 2, noAddress: 1 })
    const rows = await mailing.settled(reportID)
    assert.deepEqual(states(rows), [
      ['ann@example.com', 'Sent'],
      ['bounce@example.com', 'Failed'],
      ['paper@example.com', 'Print'],
      ['Nobody', 'NoAddress'],
      ['ben@example.com', 'Sent'],
    ])
    const both = `/Report/Delivery?ReportID=${reportID}&AlsoPrint=true`
    assert.deepEqual(states((await service.admin.get(both)).data), [['ben@example.com', 'Sent']])
    assert.match(rows[1]!.reason!, /No such mailbox/)
    const failing = (client = service.admin) => client.get('/Report?FailedDeliveries=true')
    assert.deepEqual(
      (await failing()).data.map((one: { reportID: number }) => one.reportID),
      [reportID],
    )
    const elsewhere = await newProduct(service)
    const stranger = await service.userWith({ productIDs: [elsewhere.productID], role: 'ReadOnly' })
    assert.deepEqual((await failing(stranger)).data, [])
    assert.deepEqual(
      mail.inbox.map(({ to }) => to),
      ['ann@example.com', 'ben@example.com'],
    )
    const [first] = mail.inbox
    assert.match(first!.text, /From: Example Funds <registry@example.com>/)
    assert.match(first!.text, /Content-Type: application\/pdf/)
    const encoded = first!.text.split(/filename=.*\r\n\r\n|base64\r\n.*\r\n\r\n/).at(-1)!
    const pdf = Buffer.from(encoded.split('\r\n--')[0]!, 'base64')
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-')
    assert.match(pdf.subarray(-8).toString(), /%%EOF/)
    refused(await mailing.send(reportID), 409, 'already_sent')
    assert.equal(mail.inbox.length, 2)
    mail.bounces.clear()
    assert.equal((await mailing.send(reportID, { again: true })).data.queued, 3)
    await mailing.settled(reportID)
    assert.equal(mail.inbox.length, 5)
    assert.deepEqual((await failing()).data, [])
    const others = await service.admin.get('/Report?FailedDeliveries=false')
    assert.ok(others.data.some((one: { reportID: number }) => one.reportID === reportID))
  })

  it('asks a busy server again; puts off only whom it says "later" to; none twice', async () => {
    mail.inbox.length = 0
    mail.beBusy(1)
    mail.later.add('ann@example.com')
    const reportID = await mailing.statements()
    await mailing.send(reportID)
    const waiting = await until('the others to be sent', async () => {
      const rows = await mailing.deliveries(reportID)
      return rows.filter(({ state }) => state === 'Sent').length === 2 ? rows : undefined
    })
    assert.equal(waiting[0]!.state, 'Queued')
    assert.match(waiting[0]!.reason!, /Greylisted/)
    mail.later.clear()
    // Its minute is over, and the last look at it is a while ago.
    await rowsOf(
      service.connection,
      `update report_statement set put_off_until = now(), state_date = now() - interval '1 minute'
      where put_off_until > now()`,
    )
    const rows = await mailing.settled(reportID)
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['Sent', 'Sent', 'Print', 'NoAddress', 'Sent'],
    )
    assert.deepEqual(mail.inbox.map(({ to }) => to).sort(), [
      'ann@example.com',
      'ben@example.com',
      'bounce@example.com',
    ])
  })

  it('ends with the rights of who ordered it; what is left is sent by somebody else', async () => {
    const { productID } = fund
    const reads = ['BizTransaction', 'BizEntity', 'Address', 'Communication', 'PaymentDetail']
    const less = reads.map((one) => `${one}.Read`)
    const rights = { permissions: ['Report.Write', ...less], productIDs: [productID] }
    const reportID = await mailing.statements()
    const losing = async (client: Client, lose: (me: Me) => Promise<Reply>) => {
      const { data: me } = await client.get('/User/Me')
      await stopWorker()
      const told = await client.post('/Report/Send', { reportID })
      const lost = await lose(me)
      stopWorker = await workFor(service, env)
      assert.deepEqual([told.status, lost.status], [200, 200], told.text + lost.text)
      const rows = await mailing.settled(reportID)
      const letters = rows.filter(({ reason }) => reason !== null)
      assert.deepEqual(
        letters.map(({ name, state }) => [name, state]),
        ['ann', 'bounce', 'ben'].map((name) => [`${name}@example.com`, 'Made']),
      )
      assert.match(letters[0]!.reason!, /may not do so any more; send it anew/)
    }
    const put = (to: object) => (me: Me) =>
      service.admin.put('/User', { userID: me.userID, username: me.username, ...to })
    const endKey = (me: Me) => service.admin.delete(`/ApiKey?ApiKeyID=${me.apiKeyID}`)
    const { productID: elsewhere } = await newProduct(service)
    mail.inbox.length = 0
    await losing(await newKey(service.admin, rights), endKey)
    await losing(await service.userWith(rights), put({ isActive: false }))
    await losing(await service.userWith(rights), put({ permissions: less }))
    await losing(await service.userWith(rights), put({ productIDs: [elsewhere] }))
    assert.equal(mail.inbox.length, 0)
    const { data } = await service.admin.get('/Report?FailedDeliveries=true')
    assert.deepEqual(
      data.map((one: { reportID: number }) => one.reportID),
      [reportID],
    )
    assert.equal((await mailing.send(reportID)).data.queued, 3)
    const rows = await mailing.settled(reportID)
    assert.equal(rows.filter(({ state }) => state === 'Sent').length, 3)
    assert.equal(mail.inbox.length, 3)
  })

  it('sends nothing as nobody: letters whose sender has no address any more say so', async () => {
    const { productID } = fund
    const issue = async (issuer: object) => {
      const { data } = await service.admin.get(`/Product?ProductID=${productID}`)
      return only(await service.admin.put('/Product', { ...data[0], issuer }))
    }
    const reportID = await mailing.statements()
    mail.inbox.length = 0
    await stopWorker()
    assert.equal((await mailing.send(reportID)).data.queued, 3)
    await issue({ name: 'Example Funds' })
    stopWorker = await workFor(service, env)
    const held = (await mailing.settled(reportID)).filter(({ reason }) => reason !== null)
    const words = 'There is no sender address: set issuer.email or REGISTRY_SMTP_FROM.'
    assert.deepEqual(
      held.map(({ name, state, reason }) => [name, state, reason]),
      ['ann', 'bounce', 'ben'].map((name) => [`${name}@example.com`, 'Made', words]),
    )
    assert.equal(mail.inbox.length, 0)
    refused(await mailing.send(reportID), 409, 'no_sender')
    await issue({ name: 'Example Funds', email: 'registry@example.com' })
    assert.equal((await mailing.send(reportID)).data.queued, 3)
    await mailing.settled(reportID)
    const letter = mail.inbox.find(({ to }) => to === 'ann@example.com')
    assert.match(letter!.text, /^From: Example Funds <registry@example\.com>/m)
  })

  it('never goes to a part of an address that was stored before such were refused', async () => {
    const own = await taxingFund(service, { issuer: { name: 'Own', email: 'own@example.com' } })
    const communications = [{ communicationTypeID: 1, name: 'dora@example.com' }]
    await investor(service, own, [quoted], { communications })
    await rowsOf(
      service.connection,
      `update communication set name = 'dora,ben@example.com' where name = 'dora@example.com'`,
    )
    const ours = mailingOf(service, own)
    const reportID = await ours.statements()
    mail.inbox.length = 0
    assert.equal((await ours.send(reportID)).data.queued, 1)
    await ours.settled(reportID)
    assert.deepEqual(
      mail.inbox.map(({ to }) => to).filter((to) => to === 'ben@example.com'),
      [],
    )
  })

  it('names the holders only to who may read the statements', async () => {
    const reportID = await mailing.statements()
    const clerk = await service.userWith({ permissions: ['Report.Read'] })
    const told = await clerk.get(`/Report/Delivery?ReportID=${reportID}`)
    refused(told, 403, 'permission_missing')
    assert.doesNotMatch(told.text, /example\.com/)
  })

  it('does not send again what a process that died may have sent', async () => {
    mail.inbox.length = 0
    const reportID = await mailing.statements()
    await rowsOf(
      service.connection,
      `update report_statement set state = 'Sending', state_date = now() - interval '1 hour'
      where report_id = $1 and name = 'ann@example.com'`,
      [reportID],
    )
    await mailing.send(reportID)
    const rows = await until('the dead one to be told', async () => {
      const now = await mailing.settled(reportID)
      return now[0]!.state === 'Failed' ? now : undefined
    })
    assert.match(rows[0]!.reason!, /not known whether/)
    assert.ok(!mail.inbox.some(({ to }) => to === 'ann@example.com'))
  })

  it('refuses what cannot be sent, and tells nothing of other products', async () => {
    const { productID } = fund
    const table = await order(service.admin, { reportTypeID: 3, productID, format: 'csv' })
    refused(await mailing.send(table.reportID), 409, 'not_sendable')
    const reportID = await mailing.statements()
    const other = await taxingFund(service)
    const stranger = await service.userWith({
      role: 'Administrator',
      productIDs: [other.productID],
    })
    refused(await stranger.post('/Report/Send', { reportID }), 404, 'not_found')
    assert.deepEqual((await stranger.get(`/Report/Delivery?ReportID=${reportID}`)).data, [])
    const silent = await startService({}, service.connection)
    const queued = await silent.admin.post('/Report/Send', { reportID })
    refused(queued, 409, 'no_smtp')
    await silent.stop()
    only({ ...(await service.admin.get(`/Product?ProductID=${productID}`)) })
    await ended(service.admin, reportID)
  })
})
