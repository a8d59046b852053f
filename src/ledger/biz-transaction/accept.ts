import { productReference } from '../../catalogue/product/schema.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import type { Code } from '../../platform/problem-codes.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { type Located, locateAll, namesAny, type Reference } from '../../platform/sql/identify.ts'
import { takeEvents } from '../biz-event/hand-off.ts'
import { type Accepted, type Flaw, type Item, type Staged, whole } from './item.ts'
import { legsOf, problemsOf } from './legs.ts'

/** The first stage: takes the notices, judges the bodies, and finds the records that they name. */
export async function accept(
  tx: Tx,
  actor: Actor,
  items: readonly Item[],
): Promise<Staged<Accepted>> {
  const handed = await takeEvents(tx, actor, items)
  // A body whose notice is refused is not judged: it lacks the fields the notice would fill in.
  const judged = whole(
    handed.items.map((item) => ({ item })),
    handed.flaws,
  ).flatMap(({ item }) => problemsOf(item).map((problem): Flaw => ({ item, status: 400, problem })))
  const flaws = [...handed.flaws, ...judged]
  const resolved = await resolve(tx, actor, { items: handed.items, flaws })
  return { rows: resolved.rows, flaws: [...flaws, ...resolved.flaws] }
}

type AskedLeg = Pick<Accepted, 'item' | 'leg' | 'asked'>
type Found = Exclude<Located, { problem: unknown }>

/** Finds product, account and investment of every leg. */
async function resolve(
  tx: Tx,
  actor: Actor,
  { items, flaws: known }: { items: readonly Item[]; flaws: readonly Flaw[] },
): Promise<Staged<Accepted>> {
  const legs = whole(
    items.flatMap((item) =>
      legsOf(item.operation, item.body).map((asked, leg): AskedLeg => ({ item, leg, asked })),
    ),
    known,
  )
  const flaws: Flaw[] = []
  const locate = locator(tx, actor, legs, flaws)
  const products = await locate(({ item }) =>
    namesAny(productReference, item.body) ? productReference : undefined,
  )
  const accounts = await locate(
    ({ asked }) => asked.account,
    (i) => products[i]?.id,
  )
  flaws.push(...ofOtherProducts(legs, accounts))
  const investments = await locate(
    ({ asked }) => asked.investment,
    (i) => accounts[i]?.productID,
  )
  const rows = legs.flatMap(({ item, leg, asked }, i): Accepted[] => {
    const [account, investment] = [accounts[i], investments[i]]
    if (!account?.productID || !investment) return []
    const { id: accountID, productID } = account
    return [{ item, leg, asked, productID, accountID, investmentID: investment.id }]
  })
  flaws.push(...pairsOf(whole(rows, flaws)).flatMap(sameEnds))
  flaws.push(...whole(rows, flaws).flatMap(ofOtherNotice))
  return { rows: whole(rows, flaws), flaws }
}

/** One look-up for each way in which the legs name a record; items with a flaw are skipped. */
const locator =
  (tx: Tx, actor: Actor, legs: readonly AskedLeg[], flaws: Flaw[]) =>
  async (
    how: (leg: AskedLeg) => Reference | undefined,
    productOf: (i: number) => number | undefined = () => undefined,
  ): Promise<(Found | undefined)[]> => {
    const found: (Found | undefined)[] = legs.map(() => undefined)
    const open = whole(
      legs.map((leg, i) => ({ ...leg, i, reference: how(leg) })),
      flaws,
    )
    for (const reference of new Set(open.flatMap((leg) => leg.reference ?? []))) {
      const asking = open.filter((leg) => leg.reference === reference)
      const located = await locateAll(
        tx,
        reference,
        asking.map(({ item }) => item.body),
        {
          visible: inScope(actor, 'r.product_id'),
          productIDs: asking.map(({ i }) => productOf(i)),
          path: (n) => asking[n]?.item.path ?? '',
        },
      )
      for (const [n, one] of located.entries()) {
        const { item, i } = asking[n]! // located has an entry for each leg that asks
        if ('problem' in one) flaws.push({ item, status: one.status, problem: one.problem })
        else found[i] = one
      }
    }
    return found
  }

/** Refuses two accounts of different products: the investment is looked up in one product. */
const ofOtherProducts = (legs: readonly AskedLeg[], accounts: (Found | undefined)[]): Flaw[] =>
  legs.flatMap(({ item, leg }, i): Flaw[] => {
    const [first, second] = [accounts[i - 1], accounts[i]]
    if (leg === 0 || !first || !second || first.productID === second.productID) return []
    const message = 'Both accounts must be of the same product.'
    return [{ item, status: 400, problem: { code: 'other_product', message } }]
  })

/** Refuses a posting whose account or investment is not that of the notice it settles. */
function ofOtherNotice({ item, leg, asked, accountID, investmentID }: Accepted): Flaw[] {
  const event = item.events[leg]
  if (!event) return []
  const refuse = (what: string, { fields }: Reference): Flaw[] => [
    {
      item,
      status: 409,
      problem: {
        code: 'other_notice',
        field: inside(item.path, fields[0] ?? what),
        message: `The event notice ${event.id} is of another ${what}.`,
      },
    },
  ]
  if (event.accountID !== accountID) return refuse('account', asked.account)
  return event.investmentID === investmentID ? [] : refuse('investment', asked.investment)
}

/** The pairs of legs of transfers and conversions, which stand side by side. */
const pairsOf = (rows: readonly Accepted[]): [Accepted, Accepted][] =>
  rows.flatMap((second, i) => {
    const first = rows[i - 1]
    return second.leg === 1 && first ? [[first, second]] : []
  })

/** Refuses a transfer to the same account and a conversion into the same investment. */
function sameEnds([first, second]: [Accepted, Accepted]): Flaw[] {
  const { item } = first
  const refuse = (code: Code, message: string): Flaw[] => [
    { item, status: 400, problem: { code, message } },
  ]
  if (item.operation === 'Transfer' && first.accountID === second.accountID)
    return refuse('same_account', 'A transfer goes from one account to another.')
  if (item.operation === 'Conversion' && first.investmentID === second.investmentID)
    return refuse('same_investment', 'A conversion goes from one investment to another.')
  return []
}
