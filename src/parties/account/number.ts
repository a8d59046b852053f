import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'

/**
 * Numbers for accounts given without one. A number is unique in its product and was never used
 * before, not even by an account that was deleted or renumbered since. `avoid` holds the numbers
 * that the request itself gives.
 */
export async function newAccountNumbers(
  tx: Tx,
  productIDs: readonly number[],
  avoid: ReadonlySet<string>,
): Promise<string[]> {
  const numbers: string[] = []
  let places = productIDs.map((_, i) => i)
  // Further rounds are needed only if clients have used the next numbers of the sequence, as a
  // register does that was taken over with its numbers: each round draws twice as many.
  for (let each = 1; places.length > 0; each *= 2) {
    const free = await tx.query<{ place: number; number: string }>(sql`
      select distinct on (t.place) t.place, t.number from (
        select n.place, n.number,
          exists (select 1 from account a
            where a.product_id = n.product_id and a.account_number = n.number)
          or exists (select 1 from retired_account_number r
            where r.product_id = n.product_id and r.account_number = n.number) as is_taken
        from (
          select g.place, g.product_id, nextval('account_number_seq')::text as number
          from unnest(${places}::int[], ${places.map((i) => productIDs[i]!)}::int[])
            g (place, product_id)
          cross join generate_series(1, ${each}::int)
          offset 0) n
        offset 0) t
      where not t.is_taken order by t.place, length(t.number), t.number`)
    for (const { place, number } of free) if (!avoid.has(number)) numbers[place] = number
    places = places.filter((place) => numbers[place] === undefined)
  }
  return numbers
}

/**
 * Remembers the numbers of accounts that are deleted or renumbered, so that they are not used
 * again.
 */
export async function retireAccountNumbers(tx: Tx, accountIDs: readonly number[]) {
  if (accountIDs.length === 0) return
  await tx.query(sql`
    with gone as materialized (
      select product_id, account_number from account where account_id = any(${accountIDs}::int[]))
    insert into retired_account_number (product_id, account_number)
    select product_id, account_number from gone on conflict do nothing`)
}
