import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { DistributionID, Stored } from './sql.ts'

const names = Object.fromEntries(
  Object.entries(lookups.DistributionStatus).map(([name, id]) => [id, name]),
)

/** A stage follows on another; called twice, the second finds the distribution moved on. */
export function refuseOtherStage({ statusID }: Stored, wanted: number) {
  if (statusID !== wanted)
    throw conflict(
      'wrong_stage',
      `The distribution is ${names[statusID]}; this stage needs it to be ${names[wanted]}.`,
    )
}

export const moveOn = (
  tx: Tx,
  { productID, id }: DistributionID,
  statusID: number,
  also: Fragment,
) =>
  tx.query(sql`
    update distribution set distribution_status_id = ${statusID}, updated_date = now(), ${also}
    where product_id = ${productID} and corporate_action_id = ${id}`)

/** A stage works on a million rows at once: no limit on its time, whole scans, room to sort. */
export async function workOnWholeTables(tx: Tx) {
  await tx.query(sql`
    select set_config('statement_timeout', '0', true), set_config('enable_seqscan', 'on', true),
      set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('work_mem', '256MB', true)`)
}
