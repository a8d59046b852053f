import { readSessionActor } from '../access/user/session.ts'
import { postAtOnce } from '../ledger/biz-transaction/at-once.ts'
import { namingOf } from '../ledger/biz-transaction/naming.ts'
import { readEntities } from '../parties/biz-entity/read.ts'
import type { Actor } from '../platform/actor.ts'
import { permissions } from '../platform/permission.ts'
import type { Once, Sql } from '../platform/sql/handle.ts'

/** As many connections as one caller's reads and postings are on at once. */
const connections = 2
/** PostgreSQL keeps the plan of a read when it has made five; our names begin at the second. */
const times = 8
/** In milliseconds: a busy machine is not kept from serving. */
const patience = 2_000
/** In milliseconds, of rest between two times. */
const interval = 20_000
/** No record has it: what is asked for is not there, and nothing is written. */
const nobody = 2 ** 31 - 1

/** No session has it. */
const noSession = '00000000-0000-0000-0000-000000000000'

/**
 * Has PostgreSQL plan what is asked most, before the first caller waits for it: who calls, an
 * entity by its id and deposits, on connections that are kept. The first calls after a start took
 * thirty times as long as those after. What goes wrong here is left for whoever asks.
 */
export async function warmUp(database: Sql & Once): Promise<void> {
  const end = performance.now() + patience
  for (let time = 0; time < times && performance.now() < end; time++) await askForNobody(database)
}

/**
 * The same once in a while, so that the first to call after a rest need not wait either: when
 * PostgreSQL has counted a table anew it makes every plan about it again. Gives back how to stop.
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
  // One after the other: a pool gives those connections again that came back last.
  for (const work of works)
    await Promise.allSettled(Array.from({ length: connections }, () => work(database)))
}

/** One of its own each time: what one caller asks for at once would share a statement. */
const anybody = (): Actor => ({
  userID: 0,
  username: '',
  sessionID: '',
  productIDs: null,
  permissions: new Set(permissions),
})

const knowNobody = (handle: Sql) => readSessionActor(handle, noSession)
const readNobody = (handle: Sql) => readEntities(handle, anybody(), { BizEntityID: nobody })

/** As many postings as each text of the statement is for: see sizeOf in at-once.ts. */
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
