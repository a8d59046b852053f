import sql from 'sql-template-tag'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import type { DistributionID } from './sql.ts'

/** Keeps the present version of a distribution before it changes, for reads of the past. */
export const keepDistribution = (tx: Tx, { productID, id }: DistributionID) =>
  tx.query(sql`
    insert into distribution_version (product_id, corporate_action_id, valid_to, image, components)
    select d.product_id, d.corporate_action_id, clock_timestamp(), to_jsonb(d), coalesce((
        select jsonb_agg(to_jsonb(c)) from distribution_component c
        where c.product_id = d.product_id and c.corporate_action_id = d.corporate_action_id), '[]')
    from distribution d
    where d.product_id = ${productID} and d.corporate_action_id = ${id}`)

/** Keeps the present versions of entitlements e before a stage is reversed. */
export const keepEntitlements = (tx: Tx, own: Fragment) =>
  tx.query(sql`
    insert into entitlement_version (product_id, corporate_action_id, account_id, valid_to, image)
    select e.product_id, e.corporate_action_id, e.account_id, m.moment, to_jsonb(e)
    from entitlement e cross join (select clock_timestamp() as moment) m where ${own}`)
