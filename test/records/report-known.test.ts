import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { configure } from '../support/distribution.ts'
import { getBytes } from '../support/files.ts'
import { unique } from '../support/investors.ts'
import { newPrice, only, poster } from '../support/ledger.ts'
import { runBody } from '../support/payment-run.ts'
import { temporaryFolder } from '../support/process.ts'
import { ended, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { walks } from '../support/walks.ts'
import { investor, quoted, taxingFund, unquoted } from '../support/withholding.ts'
import type { Data } from '../support/world.ts'

/**
 * Reports of the past: every kind is ordered at several moments of a random quarter of a fund, with
 * stages of distributions, tax, payment runs with their results, and changes of investors. At the
 * end each is ordered again with KnownAt. Not a byte may differ, in any format.
 */
const seed = Number(process.env.REGISTRY_KNOWN_SEED ?? Math.floor(Math.random() * 2 ** 31))
const steps = Number(process.env.REGISTRY_KNOWN_STEPS ?? 48 * walks)
const moments = Math.max(3, Math.floor(steps / 16))

let state = seed
/** A random whole number below `most`, from the seed. */
function below(most: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return (state >> 8) % most
}
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!

const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
let approver: Client
let stopWorker: () => Promise<void>
before(async () => {
  service = await startService(folder)
  approver = await service.userWith({ role: 'Administrator' })
  stopWorker = await workFor(service, folder)
})
after(async () => {
  await stopWorker()
  await service.stop()
})
const post = poster(() => service.admin)

const bank = (accountNumber: string) => ({
  paymentDetails: [{ bsb: '062-000', accountNumber, accountName: 'P', isForDistribution: true }],
})

async function newRegister() {
  const fund = await taxingFund(service, { companyTaxPercentage: 30 })
  for (const investmentID of [fund.investmentID, fund.targetID])
    await newPrice(service, investmentID, '2000-01-01', 2)
  const half = { drpTypeID: 3, drpValue: 50 }
  const holders = [
    await investor(service, fund, [quoted], { name: 'Ann', ...bank('11223344'), account: half }),
    await investor(service, fund, [unquoted], { name: 'Bo', ...bank('55667788') }),
    await investor(service, fund, [unquoted], { name: 'Cy' }),
  ]
  return { ...fund, holders }
}
type Register = Awaited<ReturnType<typeof newRegister>>

/** The possible next steps of a distribution or a payment run. */
function moneySteps({ productID, investmentID, targetID }: Register) {
  const { admin } = service
  const some = async (path: string): Promise<Data> =>
    pick((await admin.get(`${path}?ProductID=${productID}&PageSize=1000`)).data as Data[]) ?? {}
  const newDistribution = () =>
    configure(service, { productID, investmentID } as never, {
      ...{ name: unique('d'), distributionAmountPerUnit: 0.37, drpIndicatorID: 2 },
      ...{ drpInvestmentID: targetID, drpPrice: 3 },
      taxComponents: [
        { taxComponentName: 'AustralianFrankedDividends', percentage: 40 },
        { taxComponentName: 'AustralianUnfrankedDividends', percentage: 60 },
      ],
    })
  const newRun = () => admin.post('/PaymentRun', runBody({ productID }))
  /** Takes a step of a payment run; if there is no run yet, makes one. */
  const runStep = async (name: string, more: object = {}, client = admin) => {
    const { paymentRunID } = await some('/PaymentRun')
    return paymentRunID ? client.post(`/PaymentRun/${name}`, { paymentRunID, ...more }) : newRun()
  }
  /** Runs the next stage of a distribution; after the last stage, creates another distribution. */
  const forward = async () => {
    const { corporateActionID, distributionStatusID } = await some('/Distribution')
    const name = ['Declare', 'Payment', 'DrpAllotment'][distributionStatusID - 1]
    if (!name) return newDistribution()
    return admin.post(`/Distribution/${name}`, { corporateActionID, confirmSecond: true })
  }
  return [
    ...[newDistribution, forward, forward, forward],
    async () => {
      const { corporateActionID, distributionStatusID } = await some('/Distribution')
      const body = { corporateActionID, fromStatusID: distributionStatusID, reason: 'Again' }
      return corporateActionID ? admin.post('/Distribution/Reverse', body) : newDistribution()
    },
    ...[newRun, () => runStep('Approve', {}, approver), () => runStep('Sent')],
    async () => {
      const { paymentID, paymentRunID } = await some('/PaymentRun/Payment')
      const payments = [{ paymentID, state: pick(['Paid', 'Returned']), reason: 'No account' }]
      return paymentRunID ? admin.post('/PaymentRun/Result', { paymentRunID, payments }) : newRun()
    },
    ...[() => runStep('Reissue'), () => runStep('Unclaimed', { days: 0 })],
    async () => {
      const { paymentRunID } = await some('/PaymentRun')
      return paymentRunID ? admin.delete(`/PaymentRun?PaymentRunID=${paymentRunID}`) : newRun()
    },
  ]
}

/** The other changes of a register that reports show. */
function otherSteps(register: Register) {
  const { admin } = service
  const { holders, investmentID } = register
  const numbers = ['123456782', '123456789', null]
  return [
    () => {
      const { accountID } = pick(holders)
      const kind = pick(['Deposit', 'Redemption'])
      return post(kind, { accountID, investmentID, amount: 1 + below(200) })
    },
    async () => {
      const { bizEntityID } = pick(holders)
      const entity = only(await admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
      const [party] = entity.bizEntityParties
      const person = { ...party.person, taxationFileNumber: pick(numbers) }
      const change = pick([
        { name: unique('name') },
        bank(pick(['11223344', '55667788', '12'])),
        { paymentDetails: [] },
        { addresses: [{ addressLine: unique('street'), addressTypeID: 8 }] },
        { bizEntityParties: [{ ...party, person }] },
      ])
      return admin.put('/BizEntity', { ...entity, ...change })
    },
    async () => {
      register.holders.push(await investor(service, register, [quoted], { name: unique('new') }))
      return { status: 200, text: '' }
    },
  ]
}

const formats = ['csv', 'pdf', 'xlsx', 'json']
const letters = [8, 9, 15]

/** An order of each report type, in formats by turns; statements are for the first investor. */
function ordersOf({ productID, holders }: Register, corporateActionID: number | undefined) {
  const turn = below(formats.length)
  const kinds = Array.from({ length: 15 }, (_, i) => i + 1).filter(
    (kind) => corporateActionID || (kind !== 4 && kind !== 8),
  )
  return kinds.map((reportTypeID) => {
    const isLetter = letters.includes(reportTypeID)
    return {
      ...{ reportTypeID, productID, date: '2026-06-30' },
      format: isLetter ? 'pdf' : formats[(turn + reportTypeID) % formats.length],
      ...((isLetter || reportTypeID === 7) && { bizEntityID: holders[0]!.bizEntityID }),
      ...([4, 8].includes(reportTypeID) && { corporateActionID }),
    }
  })
}

/** The content of a report or the reason for its failure, and the moment that it shows. */
async function told(body: object) {
  const reply = await service.admin.post('/Report', body)
  if (reply.status !== 200) return { knownAt: undefined, said: reply.text }
  const { reportID, reportStatusID, errorMessage } = await ended(service.admin, reply.data.reportID)
  const { knownAt } = only(await service.admin.get(`/Report?ReportID=${reportID}`))
  if (reportStatusID !== 3) return { knownAt, said: String(errorMessage) }
  const { bytes } = await getBytes(service.admin, `/Report/File?ReportID=${reportID}`)
  return { knownAt, said: bytes.toString('latin1') }
}

describe('A report of what was known', () => {
  it(`is the same in every format, whatever came after (REGISTRY_KNOWN_SEED=${seed})`, async () => {
    const register = await newRegister()
    const happen = [...moneySteps(register), ...moneySteps(register), ...otherSteps(register)]
    const taken: { body: object; said: string }[] = []
    let done = 0
    for (let step = 1; step <= steps; step++) {
      const reply = (await pick(happen)()) as { status?: number; text?: string }
      assert.ok((reply.status ?? 200) < 500, reply.text)
      if ((reply.status ?? 200) < 300) done++
      if (step % Math.floor(steps / moments) > 0) continue
      const distributions = await service.admin.get(`/Distribution?ProductID=${register.productID}`)
      const declared = (distributions.data as Data[]).find((one) => one.distributionStatusID > 1)
      for (const body of ordersOf(register, declared?.corporateActionID)) {
        const { knownAt, said } = await told(body)
        if (knownAt) taken.push({ body: { ...body, knownAt }, said })
      }
    }
    assert.ok(done > steps / 6, `${done} of ${steps} were done`)
    assert.ok(taken.length >= 13 * moments - 3, `${taken.length} reports`)
    for (const { body, said } of taken)
      assert.equal((await told(body)).said, said, JSON.stringify(body))
  })
})
