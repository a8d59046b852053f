import assert from 'node:assert/strict'
import { it } from 'node:test'
import { verifyWebhook } from '../../client/src/index.ts'
import { whileDelivering } from '../support/deliveries.ts'
import { only } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { type Receiver, withReceiver } from '../support/receiver.ts'
import { withService } from '../support/service.ts'

it('The secret of a webhook that waits for approval is told to who asked, and is the one', () =>
  withService({ REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true' }, async ({ admin, userWith, connection }) => {
    const approver = await userWith({ role: 'Administrator' })
    const rules = ['POST /Webhook', 'POST /Webhook/RotateSecret']
    for (const operation of rules) only(await admin.post('/ApprovalRule', { operation }))

    /** Sends a write that waits; returns its secret, and how to approve it. */
    const asked = async (path: string, body: object) => {
      const headers = { 'Idempotency-Key': path }
      const reply = await admin.post(path, body, headers)
      const { approvalID, secret } = reply.data
      assert.equal(reply.status, 202, reply.text)
      assert.match(secret, /^whsec_/)
      assert.deepEqual((await admin.post(path, body, headers)).data, reply.data)
      const told = [await admin.get(`/Approval?ApprovalID=${approvalID}`)]
      const approve = async (): Promise<number> => {
        told.push(await approver.post('/Approval/Approve', { approvalID }))
        told.push(await admin.get('/Audit?PageSize=1000'))
        for (const { status, text } of told)
          assert.deepEqual([status, text.includes(secret)], [200, false], text)
        return only(told[1]!).resourceIDs[0]
      }
      return { secret, approve }
    }
    /** Sends a test, and returns which of these secrets it is signed with. */
    const signedWith = async ({ got }: Receiver, webhookID: number, secrets: string[]) => {
      const before = got.length
      only(await admin.post('/Webhook/Test', { webhookID }))
      const { body, headers } = await until('the test', () => got[before])
      const given = new Headers(headers as Record<string, string>)
      const isRight = async (secret: string) => {
        try {
          return Boolean(await verifyWebhook(body, given, secret))
        } catch {
          return false
        }
      }
      return Promise.all(secrets.map(isRight))
    }

    const work = () =>
      withReceiver(async (receiver) => {
        const made = await asked('/Webhook', { url: receiver.url, types: ['product.created'] })
        const webhookID = await made.approve()
        const renewed = await asked('/Webhook/RotateSecret', { webhookID })
        const secrets = [made.secret, renewed.secret]
        assert.deepEqual(await signedWith(receiver, webhookID, secrets), [true, false])
        await renewed.approve()
        assert.deepEqual(await signedWith(receiver, webhookID, secrets), [true, true])
      })
    await whileDelivering(connection, work)
  }))
