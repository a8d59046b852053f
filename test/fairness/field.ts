import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { fillLedger } from '../support/large-ledger.ts'
import { newFund, only } from '../support/ledger.ts'
import { type Node, startNode } from '../support/node.ts'
import { adminPassword } from '../support/service.ts'

/** Nodes on one database with a register, and two users, of whom one is greedy. */
export type Field = Awaited<ReturnType<typeof openField>>

const transactions = 200_000
/** The first product of the large ledger, which has nearly all accounts. */
export const large = { productID: 1, investmentID: 1 }

export async function openField(count: number) {
  const connection = await freshDatabase()
  await fillLedger(connection, transactions)
  const nodes: Node[] = []
  for (let n = 0; n < count; n++)
    nodes.push(await startNode(connection, { REGISTRY_STAGE_INLINE: '500' }))
  const [first] = nodes as [Node]
  const fund = await newFund({ admin: first.admin, connection } as Parameters<typeof newFund>[0])
  const signedIn = async (username: string, role: string) => {
    const body = { username, password: adminPassword, role, productIDs: null }
    only(await first.admin.post('/User', body))
    return (await first.anyone.signIn(username, adminPassword)).token ?? ''
  }
  const greedy = await signedIn('greedy', 'Administrator')
  await signedIn('modest', 'Operator')
  const modest = await Promise.all(
    nodes.map(({ anyone }) => anyone.signIn('modest', adminPassword)),
  )
  let calls = 0
  const next = <T>(list: readonly T[]): T => list[calls++ % list.length]!
  return {
    connection: connection as pg.ClientConfig,
    nodes,
    fund,
    greedy,
    /** The next node's address: the greedy user's calls, too, go to the nodes in turns. */
    urlOf: () => next(nodes).url,
    modest: () => next(modest),
    /** The call that the modest user repeats all the time. */
    deposit: () =>
      next(modest).post('/BizTransaction/Deposit', {
        accountID: fund.accountID,
        investmentID: fund.investmentID,
        transactionDate: '2026-01-10',
        amount: 1,
      }),
    sql: (text: string, values: unknown[] = []) => rowsOf(connection, text, values),
    mostMemory: () => Math.round(Math.max(...nodes.map(({ pid }) => peakOf(pid))) / 1024),
    close: async () => {
      for (const node of nodes) assert.equal(await node.stop(), 0)
    },
  }
}

/** The most kibibytes that a process ever held. */
const peakOf = (pid: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
