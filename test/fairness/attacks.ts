import { connect } from 'node:net'
import pg from 'pg'
import type { Reply } from '../support/client.ts'
import { callFrom } from '../support/fairness.ts'
import { until } from '../support/process.ts'
import { adminPassword } from '../support/service.ts'
import { type Field, large } from './field.ts'

/** The calls of the greedy user, from many callers at once, and those of the other meanwhile. */
export type Attack = {
  callers: number
  call: (n: number) => Promise<{ status: number }>
  /** The calls of the other user, if they are not deposits. */
  victim?: () => Promise<{ status: number }>
  end?: () => Promise<void>
}

type AttackOn = (field: Field) => Promise<Attack> | Attack

/** A call of the greedy user. */
const greedily = ({ urlOf, greedy }: Field, method: string, path: string, body?: string | Buffer) =>
  callFrom(urlOf(), { method, path, token: greedy, ...(body !== undefined && { body }) })

const tenMebibytes = Buffer.from(`{"includeAccounts":[${'{},'.repeat((10 << 20) / 3 - 20)}{}]}`)

const bodies =
  (callers: number): AttackOn =>
  (field) => ({
    callers,
    call: (n) =>
      n % 2 === 0
        ? greedily(field, 'PUT', '/User/Password', tenMebibytes)
        : greedily(field, 'POST', '/Distribution/Preview', tenMebibytes),
  })

const pages: AttackOn = (field) => {
  const paths = [
    '/BizEntity?PageSize=1000',
    '/BizEntity?PageNumber=4&PageSize=1000',
    '/BizEntity?Name.contains=vest&PageSize=1000',
    '/BizTransaction?PageNumber=150&PageSize=1000',
  ]
  return { callers: 40, call: (n) => greedily(field, 'GET', paths[n % paths.length]!) }
}

const combinations: AttackOn = (field) => {
  const operators = ['equal', 'notEqual', 'greaterThan', 'lessThan', 'in', 'notIn']
  return {
    callers: 20,
    call: (n) => {
      const pick = (i: number) => operators[Math.floor(n / 6 ** i) % 6]
      const names = ['BizEntityID', 'BizEntityTypeID', 'BizEntityStatusID', 'AccountID']
      const query = names.map((name, i) => `${name}.${pick(i)}=1`).join('&')
      return greedily(field, 'GET', `/BizEntity?${query}`)
    },
  }
}

const signIns: AttackOn = (field) => {
  const login = (from: string, username: string, password: string) =>
    callFrom(field.urlOf(), {
      method: 'POST',
      path: '/User/Login',
      body: JSON.stringify({ username, password }),
      from,
    })
  return {
    callers: 300,
    call: (n) => login('127.77.0.2', `nobody-${n}`, 'a wrong password'),
    victim: () => login('127.0.0.1', 'modest', adminPassword),
  }
}

/** Asks for long lists and does not read them. */
const slowReaders: AttackOn = (field) => {
  const sockets = Array.from({ length: 12 }, () => {
    const { hostname, port } = new URL(field.urlOf())
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `GET /BizTransaction?PageSize=1000&ProductID=1 HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\n` +
        `Authorization: ${field.greedy}\r\n\r\n`.repeat(1),
    )
    return socket
  })
  return {
    callers: 3,
    call: () => greedily(field, 'GET', '/PaymentDetail?PageSize=1000'),
    victim: () =>
      field.modest().get(`/BizEntity?BizEntityID=${field.fund.accounts[0]!.bizEntityID}`),
    end: async () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Opens a database session that holds a lock until it is told to release it. */
async function holding(field: Field, statement: string, values: unknown[]) {
  const client = new pg.Client(field.connection)
  await client.connect()
  await client.query('begin')
  await client.query(statement, values)
  let isHeld = true
  return async () => {
    if (!isHeld) return
    isHeld = false
    await client.query('rollback')
    await client.end()
  }
}

const depositTo = (accountID: number, investmentID: number) =>
  JSON.stringify({ accountID, investmentID, transactionDate: '2026-01-10', amount: 1 })

const lockedAccount: AttackOn = async (field) => ({
  callers: 400,
  end: await holding(
    field,
    'select from ledger_account where product_id = $1 and account_id = 1 for update',
    [large.productID],
  ),
  call: () => greedily(field, 'POST', '/BizTransaction/Deposit', depositTo(1, large.investmentID)),
})

/** A key that is held, as a node leaves it that was stopped in the middle of a write. */
const heldKey: AttackOn = async (field) => {
  const [user] = await field.sql(`select user_id from app_user where username = 'greedy'`)
  const key = `held-${Math.random()}`
  const body = depositTo(2, large.investmentID)
  return {
    callers: 50,
    end: await holding(
      field,
      'insert into idempotency (user_id, key, fingerprint) values ($1, $2, $3)',
      [user!.user_id, key, 'x'],
    ),
    call: () =>
      callFrom(field.urlOf(), {
        ...{ method: 'POST', path: '/BizTransaction/Deposit', token: field.greedy, body, key },
      }),
  }
}

/** Distribution stages over all accounts of a product, one after another, and their reversals. */
const stages: AttackOn = async (field) => {
  const post = (path: string, body: object) =>
    greedily(field, 'POST', `/Distribution${path}`, JSON.stringify({ ...body }))
  const made = await post('', {
    ...{ ...large, recordDate: '2025-06-30', paymentDate: '2025-07-15' },
    ...{ distributionAmountPerUnit: '0.01', name: 'long' },
    taxComponents: [{ taxComponentName: 'Interest', percentage: 100 }],
  })
  const { corporateActionID } = [JSON.parse(made.text).data].flat()[0]
  const which = { productID: large.productID, corporateActionID }
  const steps = ['Declare', 'Payment']
  return {
    callers: 1,
    call: async (n) => {
      const forward = steps[n % 4]
      const back = { fromStatusID: n % 4 === 2 ? 3 : 2, reason: 'again' }
      const reply = forward
        ? await post(`/${forward}`, which)
        : await post('/Reverse', { ...which, ...back })
      await until('the stage to end', async () => {
        const path = `/Distribution?CorporateActionID=${corporateActionID}`
        const { text } = await greedily(field, 'GET', path)
        return JSON.parse(text).data[0].stageProgress === null
      })
      return reply
    },
  }
}

/** Postings dated before all others of an account with a long history. */
const backDating: AttackOn = async (field) => {
  const accountID = 3
  const rows = Array.from({ length: 1000 }, (_, i) => ({
    ...{ accountID, investmentID: large.investmentID, amount: 1 },
    transactionDate: `20${String(10 + (i % 15))}-01-10`,
  }))
  for (let n = 0; n < 5; n++)
    await greedily(field, 'POST', '/BizTransaction/Deposit', JSON.stringify(rows))
  const early = { ...rows[0], transactionDate: '2003-01-01' }
  return {
    callers: 8,
    call: () => greedily(field, 'POST', '/BizTransaction/Deposit', JSON.stringify(early)),
  }
}

/** One user orders hundreds of reports; the other orders one at a time and waits for it. */
const reports: AttackOn = (field) => {
  const order = { reportTypeID: 2, productID: field.fund.productID, format: 'csv' }
  const ordered = async (client: { post: (path: string, body: object) => Promise<Reply> }) =>
    (await client.post('/Report', order)).data.reportID as number
  let left = 390
  return {
    callers: 10,
    call: async () => {
      if (left-- <= 0) return greedily(field, 'GET', '/Product?PageSize=1')
      const body = { ...order, productID: large.productID, format: 'xlsx' }
      return greedily(field, 'POST', '/Report', JSON.stringify(body))
    },
    victim: async () => {
      const client = field.modest()
      const reportID = await ordered(client)
      return until('the report', async () => {
        const reply = await client.get(`/Report/Status?ReportID=${reportID}`)
        return reply.data.reportStatusID > 2 ? reply : undefined
      })
    },
    end: async () => {
      await field.sql(`update report set report_status_id = 4, lease = null where user_id = (
        select user_id from app_user where username = 'greedy') and report_status_id < 3`)
    },
  }
}

const uploads: AttackOn = (field) => {
  const content = Buffer.alloc(15 << 20, 'x').toString('base64')
  const body = Buffer.from(JSON.stringify({ documentID: 987_654, fileName: 'a.txt', content }))
  return { callers: 8, call: () => greedily(field, 'POST', '/Document/File', body) }
}

export const attacksOn: Record<string, AttackOn> = {
  'sends eight bodies of 10 MiB of nothing at a time': bodies(8),
  'sends thirty bodies of 10 MiB at a time': bodies(30),
  'reads large and deep pages over 40 connections': pages,
  'asks for ever new combinations of filters': combinations,
  'tries 300 sign-ins at a time from another address': signIns,
  'asks for long lists and does not read them': slowReaders,
  'posts 400 times at once to an account that is locked': lockedAccount,
  'sends under a key that a frozen node holds': heldKey,
  'runs stages over thousands of accounts': stages,
  'posts before all that a long account has': backDating,
  'orders 390 reports': reports,
  'uploads eight files of 20 MB for a document that is not there': uploads,
}
