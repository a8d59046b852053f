import { productReference } from '../../catalogue/product/schema.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { type Located, locateAll, namesAny, type Reference } from '../../platform/sql/identify.ts'
import { addFlaws, type Item, type Row, rowOf } from './item.ts'
import { legsOf } from './legs.ts'

type Found = Exclude<Located, { problem: unknown }>

/** Finds product, account and investment of every leg; what is not found is its item's flaw. */
export async function resolve(tx: Tx, actor: Actor, items: Item[]): Promise<Row[]> {
  const pairs = items.map((item) => {
    const legs = legsOf(item.kind, item.body).map((asked, leg) => rowOf(asked, item, leg))
    for (const row of legs) row.first = legs[0]!
    return legs
  })
  const rows = pairs.flat()
  const naming = rows.filter(({ item }) => namesAny(productReference, item.body))
  const locate = locator(tx, actor)
  await locate(
    naming,
    () => productReference,
    (row, { id }) => {
      row.productID = id
    },
  )
  await locate(
    rows,
    ({ account }) => account,
    (row, { id, productID }) => {
      row.accountID = id
      row.productID = productID!
    },
  )
  for (const pair of pairs) refuseOtherProduct(pair)
  await locate(
    rows,
    ({ investment }) => investment,
    (row, { id }) => {
      row.investmentID = id
    },
  )
  for (const pair of pairs) refuseSame(pair)
  return rows
}

/** One look-up for each way in which the rows name a thing; rows with a flaw ask no further. */
const locator =
  (tx: Tx, actor: Actor) =>
  async (rows: Row[], how: (row: Row) => Reference, found: (row: Row, located: Found) => void) => {
    for (const reference of new Set(rows.map(how))) {
      const asking = rows.filter((row) => how(row) === reference && row.item.flaws.length === 0)
      const located = await locateAll(
        tx,
        reference,
        asking.map(({ item }) => item.body),
        {
          visible: inScope(actor, 'r.product_id'),
          productIDs: asking.map(({ productID }) => productID),
          path: (i) => asking[i]!.item.path,
        },
      )
      for (const [i, row] of asking.entries()) {
        const one = located[i]!
        if ('problem' in one) addFlaws(row.item, one.status, [one.problem])
        else found(row, one)
      }
    }
  }

/** The two legs of a transfer are of one product; where its investment is looked up. */
function refuseOtherProduct([first, second]: Row[]) {
  if (!first || !second || first.item.flaws.length > 0) return
  if (first.productID !== second.productID)
    addFlaws(first.item, 400, [
      { code: 'other_product', message: 'Both accounts must be of the same product.' },
    ])
}

/** The two legs of a transfer or a conversion differ where they must. */
function refuseSame([first, second]: Row[]) {
  if (!first || !second || first.item.flaws.length > 0) return
  const refuse = (code: string, message: string) => addFlaws(first.item, 400, [{ code, message }])
  if (first.item.kind === 'Transfer' && first.accountID === second.accountID)
    refuse('same_account', 'A transfer goes from one account to another.')
  else if (first.item.kind === 'Conversion' && first.investmentID === second.investmentID)
    refuse('same_investment', 'A conversion goes from one investment to another.')
}
