import sql, { raw } from 'sql-template-tag'
import { constraints } from '../../platform/constraints.ts'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { lostRace, type Row } from '../../platform/sql/rows.ts'

/**
 * The rules for prices: none is in a locked period, there is one for each investment and day, and
 * none moves further than its investment allows.
 */

export type PricedProduct = { productID: number; lockedDate: string | null }

/**
 * The product of each investment, with the day up to which it is locked. The product's row is
 * locked: a request that locks the period waits for the prices being written. If an investment was
 * deleted since it was found, the request starts again and is refused as naming an unknown one.
 */
export async function productsOf(
  tx: Tx,
  investmentIDs: readonly number[],
): Promise<Map<number, PricedProduct>> {
  const rows = await tx.query<PricedProduct & { investmentID: number }>(sql`
    select i.investment_id as "investmentID", p.product_id as "productID",
      p.locked_date as "lockedDate"
    from investment i join product p on p.product_id = i.product_id
    where i.investment_id = any(${investmentIDs}::int[])
    order by p.product_id for share of p`)
  const products = new Map(rows.map(({ investmentID, ...product }) => [investmentID, product]))
  if (investmentIDs.some((id) => !products.has(id))) throw lostRace('investment')
  return products
}

export function refuseLocked(
  prices: readonly { row: Row; path: string }[],
  products: ReadonlyMap<number, PricedProduct>,
) {
  const problems = prices.flatMap(({ row, path }): Problem[] => {
    const { lockedDate } = products.get(row.investment_id as number)!
    // ISO dates compare correctly as texts.
    if (lockedDate === null || (row.price_date as string) > lockedDate) return []
    const field = inside(path, 'priceDate')
    const message = `${field}: the product is locked up to ${lockedDate}; prices there stay.`
    return [{ code: 'period_locked', field, message }]
  })
  refuseAll(409, problems)
}

/**
 * Refuses days that have a price already, or occur earlier in the list. It reports all of them; the
 * unique constraint, which has the last word, would report one.
 */
export async function refuseTaken(tx: Tx, prices: readonly { row: Row; path: string }[]) {
  const taken = await tx.query<{ place: number }>(sql`
    select (g.place - 1)::int as place
    from (
      select g.*, row_number() over (
        partition by g.investment_id, g.price_date order by g.place) > 1 as is_again
      from unnest(${prices.map(({ row }) => row.investment_id)}::int[],
        ${prices.map(({ row }) => row.price_date)}::date[])
        with ordinality g (investment_id, price_date, place)) g
    where g.is_again or exists (
      select 1 from investment_price v
      where v.investment_id = g.investment_id and v.price_date = g.price_date)
    order by g.place`)
  const { code, message } = constraints.investment_price_date_unique!
  const fieldAt = (place: number) => inside(prices[place]!.path, 'priceDate')
  refuseAll(
    409,
    taken.map(({ place }) => ({ code, field: fieldAt(place), message })),
  )
}

type Moved = {
  id: number
  field: string
  price: string
  other: string
  side: 'before' | 'after'
  tolerance: string
}
type Replaced = { price: string; applicationPrice: string; redemptionPrice: string }

/**
 * Refuses prices, written already, that are too far from the price before them, or that the next
 * price is too far from; price, applicationPrice and redemptionPrice are compared. If there is no
 * price before, a changed price is compared with the figures that it replaces. Of two prices in one
 * list, the later one is reported.
 */
export async function refuseBeyondTolerance(
  tx: Tx,
  { ids, written = ids }: { ids: readonly number[]; written?: readonly number[] },
  pathOf: (id: number) => string,
  replaced?: Replaced,
) {
  if (ids.length === 0) return
  const moved = await tx.query<Moved>(sql`
    select v.investment_price_id as id, c.field, trim_scale(c.price)::text as price,
      trim_scale(c.other)::text as other, c.side,
      trim_scale(i.price_tolerance_percent)::text as tolerance
    from investment_price v join investment i on i.investment_id = v.investment_id
    left join lateral (${neighbour('<', 'desc')}) o on true
    left join lateral (${neighbour('>', 'asc')}) n
      on n.investment_price_id <> all(${written}::int[])
    cross join lateral (
      select coalesce(o.price, ${replaced?.price ?? null}::numeric) as price,
        coalesce(o.application_price, ${replaced?.applicationPrice ?? null}::numeric)
          as application_price,
        coalesce(o.redemption_price, ${replaced?.redemptionPrice ?? null}::numeric)
          as redemption_price) b
    cross join lateral (values
      ('price', v.price, 'before', b.price, b.price),
      ('applicationPrice', coalesce(v.application_price, v.price), 'before',
        b.application_price, b.price),
      ('redemptionPrice', coalesce(v.redemption_price, v.price), 'before',
        b.redemption_price, b.price),
      ('price', v.price, 'after', n.price, n.price),
      ('applicationPrice', coalesce(v.application_price, v.price), 'after',
        n.application_price, n.price),
      ('redemptionPrice', coalesce(v.redemption_price, v.price), 'after',
        n.redemption_price, n.price)) c (field, price, side, other, plain)
    where v.investment_price_id = any(${ids}::int[])
      and abs(c.price - c.other) * 100 > i.price_tolerance_percent
        * case c.side when 'before' then c.other else c.price end
      -- Those that are the price itself are told of once.
      and (c.field = 'price' or c.price <> v.price or c.other <> c.plain)
    order by v.investment_price_id, c.field = 'price' desc, c.field, c.side desc`)
  const problems = moved.map(({ id, price, other, side, tolerance, ...of }): Problem => {
    const field = inside(pathOf(id), of.field)
    const message =
      `${field} ${price} is more than ${tolerance} percent from ${other}, the price ${side} it. ` +
      'Send confirm: true with it if it is right.'
    return { code: 'price_tolerance', field, message }
  })
  refuseAll(409, problems)
}

/** The price before (`<`) or after (`>`) price v of its investment. */
const neighbour = (side: '<' | '>', order: 'asc' | 'desc') =>
  raw(`
      select o.investment_price_id, o.price,
        coalesce(o.application_price, o.price) as application_price,
        coalesce(o.redemption_price, o.price) as redemption_price
      from investment_price o
      where o.investment_id = v.investment_id and o.price_date ${side} v.price_date
      order by o.price_date ${order} limit 1`)
