import sql from 'sql-template-tag'
import type { NewEvent } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Owner } from './identities.ts'
import type { Showing } from './locks.ts'

type Told = { type: NewEvent['type']; resource: string; productID: number; ids: number[] }

/**
 * Events about persons and organisations that a write changes beside its own records: one in each
 * product whose other entities show them. Readers who keep a copy of such a product learn of the
 * change only from these events.
 */
export async function toldElsewhere(
  tx: Tx,
  changed: readonly Owner[],
  showing: readonly Showing[],
  own: readonly number[] = [],
): Promise<Told[]> {
  const written = new Set(own)
  const others = showing.flatMap(({ id }) => (written.has(id) ? [] : [id]))
  if (others.length === 0) return []
  const ids = (kind: Owner['kind']) => changed.flatMap((one) => (one.kind === kind ? [one.id] : []))
  return tx.query<Told>(sql`
    select 'person.updated' as type, 'Person' as resource, e.product_id as "productID",
      array_agg(distinct s.person_id order by s.person_id) as ids
    from person_shown s join biz_entity e using (biz_entity_id)
    where s.person_id = any(${ids('person')}::int[]) and e.biz_entity_id = any(${others}::int[])
    group by e.product_id
    union all
    select 'organisation.updated', 'Organisation', e.product_id,
      array_agg(distinct p.organisation_id order by p.organisation_id)
    from biz_entity_party p join biz_entity e using (biz_entity_id)
    where p.organisation_id = any(${ids('organisation')}::int[])
      and e.biz_entity_id = any(${others}::int[])
    group by e.product_id
    order by 1, 3`)
}
