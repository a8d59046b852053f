import type { Client, Reply } from '../support/client.ts'
import { choose } from '../support/distribution.ts'
import { sendForm, sha256 } from '../support/files.ts'
import { all, type Fund, newFund, poster, type Reached } from '../support/ledger.ts'
import type { Random } from './random.ts'

/** A write of a client, repeated under the same key for as long as its outcome is unknown. */
export type Operation = {
  /** The Idempotency-Key, which is also the request id in the audit record. */
  id: string
  path: string
  body: object
  /** A file; the write is then sent as a form. */
  file?: Buffer
  /** A mark by which its records are found, and how many of them one write makes. */
  mark: string
  rows: number
  /** Notes what later operations can do after this one has succeeded. */
  onDone?: (reply: Reply) => void
}

export async function send(client: Client, { id, path, body, file }: Operation, key = id) {
  const headers = { 'Idempotency-Key': key, 'X-Request-Id': id }
  if (!file) return client.post(path, body, headers)
  const form = { bytes: file, name: `${id}.pdf`, type: 'application/pdf' }
  return sendForm(client, path, body as Record<string, number>, form, { headers })
}

/** Holders of an investment, who take the DRP types in turns, and another one to reinvest in. */
export async function newHolders(service: Reached): Promise<Fund> {
  const fund = await newFund(service, { accounts: 100, investments: [{}, {}] })
  for (const [i, { accountID }] of fund.accounts.entries())
    if (i % 10 === 0) await choose(service, accountID, 1 + (i % 4), 50)
  const held = fund.accounts.map(({ accountID }) => ({ accountID, quantity: 1_000_000 }))
  const first = { investmentID: fund.investmentID, transactionDate: '2025-01-01' }
  all(
    await poster(
      () => service.admin,
      () => first,
    )('Allotment', held),
  )
  return fund
}

export type Kind = 'posting' | 'distribution' | 'document' | 'report'

type Stage = { productID: number; corporateActionID: number; statusID: number }

const stages: Record<number, string> = { 1: 'Declare', 2: 'Payment', 3: 'DrpAllotment' }

/** Chooses what clients do next, and remembers what earlier answers made possible. */
export function operationsOn(fund: Fund, random: Random, kinds: Kind[]) {
  const [investmentID, target] = fund.investmentIDs as [number, number]
  const { productID } = fund
  const distributions: Stage[] = []
  const documents: number[] = []
  let made = 0
  const account = () => random.one(fund.accounts).accountID
  const dated = () => ({ transactionDate: `2026-0${random.integer(1, 6)}-10` })
  const units = () => random.integer(1, 1_000_000) / 10_000

  const posting = (id: string): Operation => {
    const [kind, items] = random.one([
      ['Deposit', 1],
      ['Deposit', 1],
      ['Redemption', 1],
      ['Transfer', 1],
      ['Allotment', random.integer(2, 10)],
      ['Redemption', random.integer(2, 5)],
    ] as const)
    const item = () => ({
      ...dated(),
      comment: id,
      ...(kind === 'Transfer' ? between() : { accountID: account(), investmentID }),
      ...(kind === 'Deposit'
        ? { amount: random.integer(1, 100_000) / 100 }
        : { quantity: units() }),
    })
    const body = items === 1 ? item() : Array.from({ length: items }, item)
    const rows = kind === 'Transfer' ? 2 : items
    return { id, path: `/BizTransaction/${kind}`, body, mark: id, rows }
  }
  const between = () => {
    const [from, to] = random.shuffled(fund.accounts)
    return { productID, investmentID, fromAccountID: from!.accountID, toAccountID: to!.accountID }
  }

  const distribution = (id: string): Operation => {
    const known = distributions.shift()
    if (known) return nextStage(id, known)
    const body = {
      productID,
      investmentID,
      name: id,
      recordDate: '2025-06-30',
      paymentDate: '2025-07-15',
      distributionAmountPerUnit: random.integer(1, 1000) / 100_000,
      taxComponents: [
        { taxComponentName: 'CapitalGains', percentage: 33.3333 },
        { taxComponentName: 'AustralianFrankedDividends', percentage: 66.6667 },
      ],
      ...{ drpIndicatorID: 2, drpPrice: 1.2345, drpInvestmentID: target },
    }
    const onDone = ({ data: { corporateActionID } }: Reply) =>
      void distributions.push({ productID, corporateActionID, statusID: 1 })
    return { id, path: '/Distribution', body, mark: id, rows: 1, onDone }
  }
  /** The next stage of a distribution; no other client works on it until the answer is known. */
  const nextStage = (id: string, { corporateActionID, statusID }: Stage): Operation => {
    const next = { productID, corporateActionID, statusID: statusID + 1 }
    return {
      id,
      path: `/Distribution/${stages[statusID]}`,
      body: { productID, corporateActionID },
      mark: stageMark(corporateActionID, next.statusID),
      rows: 1,
      onDone: () => void (stages[next.statusID] && distributions.push(next)),
    }
  }

  const document = (id: string): Operation => {
    const documentID = documents.shift()
    if (documentID === undefined) {
      const body = { documentTypeID: 6, productID, name: id }
      const onDone = ({ data }: Reply) => void documents.push(data.documentID)
      return { id, path: '/Document', body, mark: id, rows: 1, onDone }
    }
    const size = random.one([10, 5_000, 300_000])
    const file = Buffer.concat([Buffer.from('%PDF-1.7\n'), random.bytes(100), Buffer.alloc(size)])
    const mark = fileMark(documentID, sha256(file))
    return { id, path: '/Document/File', body: { documentID }, file, mark, rows: 1 }
  }

  const report = (id: string): Operation => {
    const format = random.one(['csv', 'json', 'xlsx', 'pdf'])
    const body = { reportTypeID: random.integer(1, 2), productID, name: id, format }
    return { id, path: '/Report', body, mark: id, rows: 1 }
  }

  const makers = { posting, distribution, document, report }
  return (): Operation => makers[random.one(kinds)](`write-${++made}`)
}

/** The marks of a stage that a distribution has reached, and of a document's file. */
const stageMark = (corporateActionID: number, statusID: number) =>
  `distribution ${corporateActionID} stage ${statusID}`
const fileMark = (documentID: number, hash: string) => `document ${documentID} file ${hash}`
