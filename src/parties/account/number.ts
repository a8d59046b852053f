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
  // A second round is needed only if clients have used the next numbers of the sequence.
  while (places.length > 0) {
    const drawn = await tx.query<{ place: number; number: string; taken: boolean }>(sql`
      select n.place, n.number,
        exists (select 1 from account a
          where a.product_id = n.product_id and a.account_number = n.number)
        or exists (select 1 from retired_account_number r
          where r.product_id = n.product_id and r.account_number = n.number) as taken
      from (
        select g.place, g.product_id, nextval('account_number_seq')::text as number
        from unnest(${places}::int[], ${places.map((i) => productIDs[i]!)}::int[])
          g (place, product_id)
        offset 0) n`)
    const isFree = ({ number, taken }: { number: string; taken: boolean }) =>
      !taken && !avoid.has(number)
    for (const one of drawn) if (isFree(one)) numbers[one.place] = one.number
    places = drawn.flatMap((one) => (isFree(one) ? [] : [one.place]))
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
