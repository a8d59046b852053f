import { readSessionActor } from '../access/user/session.ts'
import { postAtOnce } from '../ledger/biz-transaction/at-once.ts'
import { namingOf } from '../ledger/biz-transaction/naming.ts'
import { readEntities } from '../parties/biz-entity/read.ts'
import type { Actor } from '../platform/actor.ts'
import { permissions } from '../platform/permission.ts'
import type { Once, Sql } from '../platform/sql/handle.ts'

/** Connections to warm: as many as one caller's reads and postings use at once. */
const connections = 2
/**
 * Rounds until plans are kept. A SQL statement is prepared under a name from its second execution
 * on, and PostgreSQL keeps a plan after it has made five.
 */
const times = 8
/** The longest warm-up in milliseconds, so that a busy machine is not kept from serving. */
const patience = 2_000
/** Milliseconds between two rounds of keepWarm. */
const interval = 20_000
/** An id that no record has: reads find nothing, and postings write nothing. */
const nobody = 2 ** 31 - 1

/** An id that no session has. */
const noSession = '00000000-0000-0000-0000-000000000000'

/**
 * Makes PostgreSQL plan the most frequent SQL statements before the first caller waits for them:
 * looking up the caller, reading an entity by its id, and deposits, on connections that stay open.
 * The first calls after a start took thirty times as long as later ones. Errors are ignored:
 * callers will meet them.
 */
export async function warmUp(database: Sql & Once): Promise<void> {
  const end = performance.now() + patience
  for (let time = 0; time < times && performance.now() < end; time++) await askForNobody(database)
}

/**
 * Repeats the warm-up at intervals, so that the first caller after a pause need not wait either:
 * PostgreSQL makes every plan about a table again after analysing it. Returns a function that stops
 * it.
 */
export function keepWarm(database: Sql & Once): () => void {
  let isAsking = false
  const ask = async () => {
    if (isAsking) return
    isAsking = true
    await askForNobody(database)
    isAsking = false
  }
  const timer = setInterval(() => void ask(), interval).unref()
  return () => clearInterval(timer)
}

async function askForNobody(database: Sql & Once) {
  const posts = (await database.isSpread()) ? [] : crowds.map(postForNobody)
  const works = [knowNobody, readNobody, ...posts]
  // The works run one after the other: the pool lends the connections again that came back last.
  for (const work of works)
    await Promise.allSettled(Array.from({ length: connections }, () => work(database)))
}

/** A new actor each time: requests that one actor makes at once would share a SQL statement. */
const anybody = (): Actor => ({
  userID: 0,
  username: '',
  sessionID: '',
  productIDs: null,
  permissions: new Set(permissions),
})

const knowNobody = (handle: Sql) => readSessionActor(handle, noSession)
const readNobody = (handle: Sql) => readEntities(handle, anybody(), { BizEntityID: nobody })

/** One number of postings for each text of the posting statement: see sizeOf in at-once.ts. */
const crowds = [1, 2, 16]

const postForNobody = (size: number) => async (database: Once) => {
  const requests = Array.from({ length: size }, (_, n) => {
    const body = {
      accountID: nobody - n,
      investmentID: nobody,
      transactionDate: '2000-01-01',
      amount: '1',
    }
    return { write, request: { operation: 'Deposit' as const, bodies: [body], path: () => '' } }
  })
  const naming = namingOf(requests[0]!.request)
  if (naming) await postAtOnce(database, anybody(), naming, requests)
}

const write = {
  userID: 0,
  username: '',
  operation: 'POST /BizTransaction/Deposit',
  resource: 'BizTransaction',
  requestID: '',
  event: 'biztransaction.posted' as const,
}
