import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, clientOf } from '../support/client.ts'

export type Posting = { key: string; accountID: number }

/** The outcome of every posting that was sent, as far as its sender knows. */
export type Load = {
  acknowledged: Set<string>
  /** Postings with no answer or 503: they may have been done, and are repeated under their keys. */
  inDoubt: Posting[]
  /** Answers that the loss of a database server must not cause. */
  odd: string[]
  /** The moment of the last acknowledgement. */
  lastAt: () => number
  /** Milliseconds of the slowest answer, whatever its status. */
  slowest: () => number
  stop: () => Promise<void>
}

export type Fund = { investmentID: number; productID: number; accountIDs: number[] }

const senders = 16
/** A limit that no answer may reach: the service gives up waiting for its database earlier. */
const patience = 60_000
const pause = 250

/** Sends postings from many senders to all nodes in turn, each under a new key, until stopped. */
export function startLoad(clients: Client[], fund: Fund): Load {
  const load = { acknowledged: new Set<string>(), inDoubt: [] as Posting[], odd: [] as string[] }
  let [stopped, lastAt, sent, slowest] = [false, 0, 0, 0]
  const send = async () => {
    while (!stopped) {
      const number = sent++
      const accountID = fund.accountIDs[number % fund.accountIDs.length]!
      const posting = { key: randomUUID(), accountID }
      const begun = Date.now()
      const end = await post(clients[number % clients.length]!, fund, posting)
      slowest = Math.max(slowest, Date.now() - begun)
      if (end === 'done') {
        load.acknowledged.add(posting.key)
        lastAt = Date.now()
      } else {
        load.inDoubt.push(posting)
        if (end !== 'later') load.odd.push(end)
        await sleep(pause)
      }
    }
  }
  const all = Promise.all(Array.from({ length: senders }, send))
  return {
    ...load,
    lastAt: () => lastAt,
    slowest: () => slowest,
    stop: async () => {
      stopped = true
      await all
    },
  }
}

/** Posts with the key as comment, too, so that the ledger shows what was posted and how often. */
async function post(client: Client, fund: Fund, { key, accountID }: Posting) {
  const { productID, investmentID } = fund
  const body = { productID, investmentID, accountID, transactionDate: '2026-01-10', amount: 1 }
  const asked = client.post(
    '/BizTransaction/Deposit',
    { ...body, comment: key },
    { 'Idempotency-Key': key },
  )
  const reply = await Promise.race([
    asked.catch((error: Error) => `no answer: ${error.message}`),
    sleep(patience, 'no answer in time', { ref: false }),
  ])
  if (typeof reply === 'string') return reply
  if (reply.status === 200) return 'done'
  const isTold = reply.status === 503 && Number(reply.headers.get('retry-after')) >= 1
  return isTold ? 'later' : `${reply.status} ${reply.text}`
}

/** Repeats postings under their keys until each is answered; returns how many were done before. */
export async function replay(clients: Client[], fund: Fund, postings: Posting[]) {
  const left = [...postings]
  const send = async () => {
    for (let posting = left.pop(); posting; posting = left.pop()) {
      const client = clients[left.length % clients.length]!
      for (let tries = 0; (await post(client, fund, posting)) !== 'done'; tries++) {
        if (tries === 100) throw new Error(`The posting ${posting.key} is never answered.`)
        await sleep(pause)
      }
    }
  }
  await Promise.all(Array.from({ length: senders }, send))
}

/** Creates a product with accounts to post to, through the service. */
export async function createFund(client: Client, accounts: number): Promise<Fund> {
  const made = async (path: string, body: unknown) => {
    const reply = await client.post(path, body)
    if (reply.status !== 200) throw new Error(reply.text)
    return reply.data
  }
  const [{ productID }] = await made('/Product', { name: 'Failover' })
  const [{ investmentID }] = await made('/Investment', { productID, name: 'Class' })
  await made('/Investment/Price', { investmentID, priceDate: '2020-01-01', price: 1 })
  const entity = {
    name: 'Investor',
    bizEntityTypeID: 1,
    bizEntityStatusID: 1,
    accounts: [{ productID }],
    bizEntityParties: [{ person: { firstName: 'Ann' } }],
  }
  const entities: { accounts: { accountID: number }[] }[] = await made(
    '/BizEntity',
    Array(accounts).fill(entity),
  )
  return {
    productID,
    investmentID,
    accountIDs: entities.map((one) => one.accounts[0]!.accountID),
  }
}

export const signIn = (urls: string[], username: string, password: string) =>
  Promise.all(urls.map((url) => clientOf(url).signIn(username, password)))
