import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import { masked, recordOf } from '../../platform/shape/mask.ts'
import { type NewEvent, sharesOf } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identify } from '../../platform/sql/identify.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import { deleteWithOwned, keepVersions } from '../../platform/sql/rows.ts'
import { byProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { historiesOf } from '../account/history.ts'
import { type AccountKey, keepPostingsOut } from '../account/ledger-row.ts'
import { retireAccountNumbers } from '../account/number.ts'
import { bizEntityParameter } from '../investor/identities.ts'
import { lockOwners, type Showing, touch } from '../investor/locks.ts'
import { visibleEntity } from '../investor/scope.ts'
import { type Parted, partDocuments } from './documents.ts'
import { entitiesByID } from './read.ts'
import { BizEntity, type BizEntityKey } from './schema.ts'
import { entityTable, ownedTables } from './tables.ts'

/** Deletes an entity without history and all that it owns; persons and organisations stay. */
export async function deleteEntity(tx: Tx, actor: Actor, key: BizEntityKey): Promise<Written> {
  const visible = visibleEntity(actor, 'r')
  const id = await identify(tx, bizEntityParameter, key, { visible })
  const children = await childrenOf(tx, id)
  const showing = await lockOwners(
    tx,
    [id, ...children].map((entityID) => ({ kind: 'bizEntity', id: entityID })),
  )
  const accounts = await accountsOf(tx, id)
  await keepPostingsOut(tx, accounts)
  await refuseWithHistory(tx, accounts)
  const before = await render(tx, await entitiesByID(tx, actor, [id]))
  await retireAccountNumbers(
    tx,
    accounts.map((account) => account.id),
  )
  await removeSettledEvents(tx, accounts)
  const { productID } = showing.find((entity) => entity.id === id)!
  const documents = await partDocuments(tx, actor, { id, productID })
  // The delete ends the grouping of other entities with this one, so their versions are kept.
  await keepVersions(tx, entityTable, sql`t.grouped_with_biz_entity_id = ${id}`)
  await deleteWithOwned(tx, entityTable, id, ownedTables)
  const others = showing.filter((entity) => entity.id !== id)
  await touch(tx, others)
  const changes = {
    deleted: masked(BizEntity, recordOf(before.json)),
    ...changesOf(id, documents),
  }
  const events = toldBeside({ productID, documents, others })
  return { ...nothingLeft, ids: [id], productID, events, before: before.json, changes }
}

const changesOf = (id: number, { deleted, updated }: Parted) => ({
  ...(deleted.length > 0 && { deletedDocuments: deleted }),
  ...(updated.length > 0 && {
    updatedDocuments: updated.map((documentID) => ({
      documentID,
      bizEntityID: { from: id, to: null },
    })),
  }),
})

type Beside = { productID: number; documents: Parted; others: Showing[] }

/**
 * Events about documents and other entities that are deleted or changed with an entity, for readers
 * who keep copies. The other entities may belong to other products.
 */
const toldBeside = ({ productID, documents, others }: Beside): NewEvent[] => [
  ...(['deleted', 'updated'] as const).flatMap((what) =>
    documents[what].length > 0
      ? [
          {
            type: `document.${what}` as const,
            resource: 'Document',
            productID,
            ids: documents[what],
          },
        ]
      : [],
  ),
  ...sharesOf(others).map((share) => ({
    type: 'bizentity.updated' as const,
    resource: 'BizEntity',
    ...share,
  })),
]

/** Entities that name this one as parent, dealer group or group, and so change with its delete. */
async function childrenOf(tx: Tx, id: number): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(sql`
    select biz_entity_id as id from biz_entity_parent
    where parent_biz_entity_id = ${id} or dealer_group_biz_entity_id = ${id}
    union
    select biz_entity_id from biz_entity where grouped_with_biz_entity_id = ${id}`)
  return rows.map((row) => row.id)
}

/** The accounts of an entity; while the entity is locked, it gets no further ones. */
const accountsOf = (tx: Tx, id: number) =>
  tx.query<AccountKey>(sql`
    select product_id as "productID", account_id as id from account
    where biz_entity_id = ${id} order by account_id`)

async function refuseWithHistory(tx: Tx, accounts: readonly AccountKey[]) {
  const histories = await historiesOf(tx, accounts)
  if (histories.some(({ transactions }) => transactions))
    throw conflict('has_transactions', 'An account of the entity has transactions.')
  if (histories.some(({ entitlements }) => entitlements))
    throw conflict(
      'has_entitlements',
      'An account of the entity is or was entitled to a distribution.',
    )
  if (histories.some(({ pendingEvents }) => pendingEvents))
    throw conflict('has_events', 'An account of the entity has pending event notices.')
}

/** An account without transactions only has cancelled notices, which are deleted with it. */
async function removeSettledEvents(tx: Tx, accounts: readonly AccountKey[]) {
  for (const [productID, own] of byProduct(accounts))
    await tx.query(sql`
      delete from biz_event
      where product_id = ${productID} and account_id = any(${own.map(({ id }) => id)}::int[])`)
}
