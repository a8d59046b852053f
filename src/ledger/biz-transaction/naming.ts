import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { nameOf, namesAny } from '../../platform/sql/identify.ts'
import { eventReference } from '../biz-event/hand-off.ts'
import type { PostingRequest } from './item.ts'
import { type Body, type Operation, problemsOf } from './legs.ts'

/** The columns by which a request's bodies name things: the same for all of one SQL statement. */
export type Naming = { account: string; investment: string; product: string | undefined }

/** How a request names things; undefined where it cannot be posted at once (at-once.ts). */
export function namingOf({ operation, bodies, path }: PostingRequest): Naming | undefined {
  if (!atOnce.has(operation)) return undefined
  const [first] = bodies
  const naming = first && columnsOf(first)
  const fits = (body: Body, i: number) =>
    !namesAny(eventReference, body) &&
    problemsOf({ operation, body, path: path(i) }).length === 0 &&
    sameNaming(columnsOf(body), naming)
  return naming && bodies.every(fits) && !namesTwice(bodies) && !takesTwice(operation, bodies)
    ? naming
    : undefined
}

const atOnce = new Set<Operation>(['Deposit', 'Allotment', 'Redemption'])

export const sameNaming = (one: Naming | undefined, other: Naming | undefined) =>
  one?.account === other?.account &&
  one?.investment === other?.investment &&
  one?.product === other?.product

/** An external account id needs a named product; a body without one is left to `post` to refuse. */
function columnsOf(body: Body): Naming | undefined {
  const [account, investment] = [accountReference, investmentReference].map((reference) =>
    nameOf(reference, body),
  )
  const product = nameOf(productReference, body)
  if (!account || !investment) return undefined
  if (!product && account.column !== accountReference.identity.columns[0]) return undefined
  return { account: account.column, investment: investment.column, product: product?.column }
}

/** Whether an array redeems twice from one account: only both together may exceed its units. */
const takesTwice = (operation: Operation, bodies: readonly Body[]) =>
  operation === 'Redemption' &&
  new Set(bodies.map((body) => nameOf(accountReference, body)?.value)).size < bodies.length

const namesTwice = (bodies: readonly Body[]) => {
  const ids = bodies.flatMap(({ externalBizTransactionId: id }) => id ?? [])
  return new Set(ids).size < ids.length
}
