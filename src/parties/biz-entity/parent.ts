import sql, { raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { notFound, Refusal } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import { soleProduct } from '../../platform/sql/event.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import {
  identified,
  identify,
  identifyOptional,
  namesAny,
  type Reference,
} from '../../platform/sql/identify.ts'
import { pageBy, renderPage } from '../../platform/sql/paging.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { insertRows, rowFrom } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import {
  bizEntityParameter,
  bizEntityReference,
  dealerGroupReference,
  parentParameter,
  parentReference,
} from '../investor/identities.ts'
import { lockOwners, touch } from '../investor/locks.ts'
import { visibleEntity } from '../investor/scope.ts'
import {
  BizEntityParent,
  type ParentInput,
  type ParentKey,
  type ParentQuery,
} from './parent-schema.ts'
import { lockParents, ownParent, parentTable, refuseCycles, selectParent } from './parents.ts'

/** The direct endpoints of parent links. */

export function readParents(handle: Sql, actor: Actor, query: ParentQuery) {
  const named = (how: Reference, column: Fragment) =>
    namesAny(how, query)
      ? sql`${column} = (
          select e.biz_entity_id from biz_entity e where ${identified(how, query, 'e')})`
      : sql`true`
  return renderPage(handle, query, {
    key: ['bizEntityID', 'parentBizEntityID', 'activeFrom'],
    rows: (wanted) => sql`
      select * from biz_entity_parent l
      where ${named(bizEntityParameter, sql`l.biz_entity_id`)}
        and ${named(parentParameter, sql`l.parent_biz_entity_id`)}
        and ${bothSeen(actor)}
      ${pageBy(wanted, linkOrder, '(select max(biz_entity_parent_id) from biz_entity_parent)')}`,
    show: (rows) =>
      selectParent(
        actor,
        sql`${visibleEntity(actor, 'c')} order by ${raw(linkOrder)}`,
        sql`(${rows})`,
      ),
  })
}

/** Answers show no id of a link: its key is the child, the parent and the first day. */
const linkOrder = 'l.biz_entity_id, l.parent_biz_entity_id, l.active_from'

const bothSeen = (actor: Actor): Fragment =>
  actor.productIDs === null
    ? sql`true`
    : sql`not exists (
        select 1 from biz_entity e
        where e.biz_entity_id
            in (l.biz_entity_id, l.parent_biz_entity_id, l.dealer_group_biz_entity_id)
          and not (${visibleEntity(actor, 'e')}))`

export async function createParent(tx: Tx, actor: Actor, input: ParentInput): Promise<Written> {
  const link = await startLink(tx, actor, input, bizEntityReference, parentReference)
  await insertRows(tx, parentTable, [await rowWith(tx, actor, link, input)])
  return finishLink(tx, actor, link, () => ({ parent: input }))
}

export async function updateParent(tx: Tx, actor: Actor, input: ParentInput): Promise<Written> {
  const link = await startLink(tx, actor, input, bizEntityReference, parentReference)
  const before = await shown(tx, actor, link)
  if (before.recordCount === 0) throw noSuchLink(link)
  const row = await rowWith(tx, actor, link, input)
  await tx.query(sql`
    update biz_entity_parent l set dealer_group_biz_entity_id = ${row.dealer_group_biz_entity_id},
      active_to = ${row.active_to}
    where ${isLink(link)}`)
  const { parentBizEntityID, parentExternalBizEntityId, activeFrom } = recordOf(before.json)
  return finishLink(tx, actor, link, (after) => ({
    link: { parentBizEntityID, parentExternalBizEntityId, activeFrom },
    parent: changesBetween(BizEntityParent, before.json, after),
  }))
}

export async function deleteParent(tx: Tx, actor: Actor, key: ParentKey): Promise<Written> {
  const given = { ...key, activeFrom: key.ActiveFrom }
  const link = await startLink(tx, actor, given, bizEntityParameter, parentParameter)
  const before = await shown(tx, actor, link)
  if (before.recordCount === 0) throw noSuchLink(link)
  await tx.query(sql`delete from biz_entity_parent l where ${isLink(link)}`)
  await touch(tx, link.showing)
  const changes = { deletedParent: recordOf(before.json) }
  return { ...nothingLeft, ids: [link.childID], productID: soleProduct(link.showing), changes }
}

type Link = Awaited<ReturnType<typeof startLink>>

/** Finds and locks the child of a link. */
async function startLink(
  tx: Tx,
  actor: Actor,
  given: { activeFrom: string },
  child: Reference,
  parent: Reference,
) {
  await lockParents(tx)
  const visible = visibleEntity(actor, 'r')
  const childID = await identify(tx, child, given, { visible })
  const parentID = await identify(tx, parent, given, { visible })
  if (childID === parentID) throw new Refusal(400, [ownParent(parent.fields[0]!)])
  const showing = await lockOwners(tx, [{ kind: 'bizEntity', id: childID }])
  return { childID, parentID, activeFrom: given.activeFrom, showing }
}

async function rowWith(tx: Tx, actor: Actor, { childID, parentID }: Link, input: ParentInput) {
  const visible = visibleEntity(actor, 'r')
  const dealerID = await identifyOptional(tx, dealerGroupReference, input, { visible })
  return rowFrom(parentTable, input, {
    biz_entity_id: childID,
    parent_biz_entity_id: parentID,
    dealer_group_biz_entity_id: dealerID ?? null,
  })
}

async function finishLink(
  tx: Tx,
  actor: Actor,
  link: Link,
  changesOf: (after: string) => object,
): Promise<Written> {
  await refuseCycles(tx, [link.childID])
  await touch(tx, link.showing)
  const after = await shown(tx, actor, link)
  const changes = changesOf(after.json)
  return { ...after, ids: [link.childID], productID: soleProduct(link.showing), changes }
}

const shown = (tx: Tx, actor: Actor, link: Link) => render(tx, selectParent(actor, isLink(link)))

const isLink = ({ childID, parentID, activeFrom }: Link) => sql`
  l.biz_entity_id = ${childID} and l.parent_biz_entity_id = ${parentID}
  and l.active_from = ${activeFrom}`

const noSuchLink = ({ childID, parentID, activeFrom }: Link) =>
  notFound(
    'not_found',
    `The entity ${childID} has no link to the parent ${parentID} from ${activeFrom} on.`,
    'activeFrom',
  )
