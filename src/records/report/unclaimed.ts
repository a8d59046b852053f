import sql from 'sql-template-tag'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { currency, itsAccount, itsOwner, wanted } from '../statement/parts.ts'
import { aboutProduct, asAt } from './about.ts'
import { addressOfEntity } from './register.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const columns: Column[] = [
  { key: 'accountNumber', title: 'Account', kind: 'text', width: 10 },
  { key: 'name', title: 'Name', kind: 'text', width: 20 },
  { key: 'address', title: 'Address', kind: 'text', width: 26 },
  { key: 'run', title: 'Run', kind: 'text', width: 6 },
  { key: 'reference', title: 'Reference', kind: 'text', width: 10 },
  { key: 'state', title: 'State', kind: 'text', width: 9 },
  { key: 'date', title: 'Returned', kind: 'date', width: 9 },
  { key: 'days', title: 'Days', kind: 'number', width: 6, decimals: 0 },
  { key: 'reason', title: 'Reason', kind: 'text', width: 16 },
  { key: 'amount', title: 'Amount', kind: 'number', width: 12, decimals: 2, total: 'currency' },
  { key: 'currency', title: 'Currency', kind: 'text', width: 7 },
]

/**
 * The day on which a reissued payment p went out again: the processing date of the new payment run,
 * or the date of the new payment's result, which may be backdated. A draft sends nothing yet, and
 * may be deleted.
 */
const sentAgain = sql`
  select case when r.state = 'Draft' then 'infinity'::date
    else least(r.processing_date, n.state_date) end as day
  from payment n
  join payment_run r on r.product_id = n.product_id and r.payment_run_id = n.payment_run_id
  where n.product_id = p.product_id and n.payment_id = p.reissued_as`

/** Payments that had been returned by a date and not sent again: whose they are, and since when. */
export const unclaimedSketch = async (snapshot: Snapshot, subject: Subject): Promise<Sketch> => ({
  title: 'Unclaimed money',
  about: [...(await aboutProduct(snapshot, subject)), asAt(subject)],
  columns,
  select: sql`
    select a.account_number as "accountNumber", e.name, x.address, p.payment_run_id::text as run,
      p.reference, case p.state when 'Reissued' then 'Returned' else p.state end as state,
      p.state_date as date, ${subject.date}::date - p.state_date as days,
      p.state_reason as reason, round(p.amount, minor_units(i.currency_id)) as amount,
      ${currency} as currency, p.payment_id
    from payment p
    join payment_run i on i.product_id = p.product_id and i.payment_run_id = p.payment_run_id
    ${itsAccount('p')} ${itsOwner}
    left join lateral (${addressOfEntity}) x on true
    left join lateral (${sentAgain}) s on p.state = 'Reissued'
    where p.product_id = ${subject.productID}
      and (p.state in ('Returned', 'Unclaimed') or s.day > ${subject.date}::date)
      and p.state_date <= ${subject.date}::date and ${wanted(subject, 'p')}`,
  order: sql`date, payment_id`,
})
