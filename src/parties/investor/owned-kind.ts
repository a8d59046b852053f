import sql, { join, raw } from 'sql-template-tag'
import type { TObject } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import type { Finding } from '../../platform/shape/keywords.ts'
import type { NewEvent } from '../../platform/sql/event.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { namesAny, type Reference } from '../../platform/sql/identify.ts'
import { columns, many } from '../../platform/sql/render.ts'
import { type Row, rowColumns, type Table } from '../../platform/sql/rows.ts'
import { columnOfOwner, type Owner, type OwnerKind, ownerKinds } from './identities.ts'

/** A kind of record that belongs to exactly one owner and is written inside it: see nested.ts. */
export type NestedKind = {
  /** The word for the kind in messages, such as "address". */
  what: string
  table: Table
  owners: readonly OwnerKind[]
  /** How request bodies name a record: by its native and its external id. */
  reference: Reference
  /** Whether the external id cannot change after creation. */
  fixedExternalID?: boolean
  /** Columns that answers may show masked: a mask that is sent back means unchanged. */
  masked?: readonly string[]
  /** Resolves conflicts between all records of one owner; the records written now come last. */
  settle?: (rows: Row[]) => Row[]
}

/** A nested kind that also has endpoints of its own: see owned.ts. */
export type OwnedKind = NestedKind & {
  /** How query strings name a record. */
  parameter: Reference
  /** The schema of a record in answers. */
  record: TObject
  select: (where: Fragment, actor: Actor) => Fragment
  /** The event for other records of the owner that `settle` has changed. */
  settled?: Pick<NewEvent, 'type' | 'resource'>
}

/**
 * Reads a record both as its caller sees it and as it is stored. Changes are computed from the
 * stored form, since two bank numbers may have the same mask.
 */
export function lookingAt<T>(actor: Actor, look: (who: Actor) => Promise<T>) {
  const seesNumbers = actor.permissions.has('PaymentDetail.Read')
  const seeing = { ...actor, permissions: new Set([...actor.permissions, 'PaymentDetail.Read']) }
  return async (): Promise<{ seen: T; stored: T }> => {
    const seen = await look(actor)
    return { seen, stored: seesNumbers ? seen : await look(seeing) }
  }
}

/** Parties have no external id. */
export const externalColumn = ({ reference }: NestedKind): string | undefined =>
  reference.identity.columns[1]
export const externalOf = (kind: NestedKind, row: Row) => row[externalColumn(kind) ?? ''] ?? null

/** The columns that name a row's owner, one of which is filled. */
export const ownerColumns = (owners: readonly OwnerKind[]): Record<string, string> =>
  Object.fromEntries(owners.map((kind) => [columnOfOwner(kind), 'integer']))

export const ownedBy = ({ owners }: NestedKind, owner: Owner): Row =>
  Object.fromEntries(
    owners.map((kind) => [columnOfOwner(kind), kind === owner.kind ? owner.id : null]),
  )

export function ownerOf({ owners }: NestedKind, row: Row): Owner {
  const kind = owners.find((one) => row[columnOfOwner(one)] !== null)!
  return { kind, id: row[columnOfOwner(kind)] as number }
}

/** Where answers find the owner's external id when the owner's row is at hand. */
const externalIDs = (kind: OwnerKind, owner: string): Record<string, string> =>
  Object.fromEntries(
    ownerKinds.map(({ kind: one, reference: { fields, identity } }) => [
      fields[1],
      one === kind ? `${owner}.${identity.columns[1]}` : 'null::varchar',
    ]),
  )

/**
 * An owner's records of one kind, for a select of owners under the alias `owner`. The owner's
 * external id is taken from that row: looking it up again would take 4000 look-ups for a page of
 * 1000 entities.
 */
export function listOf(
  { name, key }: Table,
  record: TObject,
  kind: OwnerKind,
  owner: string,
  elsewhere: Record<string, string> = {},
): Fragment {
  const column = columnOfOwner(kind)
  const shown = columns(record, 't', { ...externalIDs(kind, owner), ...elsewhere })
  return many(sql`
    select ${shown} from ${raw(name)} t
    where ${raw(`t.${column} = ${owner}.${column}`)} order by ${raw(`t.${key}`)}`)
}

/** The present rows of these owners, oldest first. */
export async function rowsOfOwners(handle: Sql, kind: NestedKind, owners: readonly Owner[]) {
  if (owners.length === 0) return []
  const { table } = kind
  const owned = kind.owners.flatMap((ownerKind) => {
    const ids = owners.flatMap((owner) => (owner.kind === ownerKind ? [owner.id] : []))
    return ids.length > 0 ? [sql`t.${raw(columnOfOwner(ownerKind))} = any(${ids}::int[])`] : []
  })
  return handle.query<Row>(sql`
    select ${rowColumns(table, 't')} from ${raw(table.name)} t
    where ${join(owned, ' or ')} order by ${raw(`t.${table.key}`)}`)
}

export const ownerKey = ({ kind, id }: Owner) => `${kind} ${id}`

/** Requires a record to name its owner by exactly one kind of id. */
export function exactlyOneOwner(value: unknown): Finding[] {
  const record = typeof value === 'object' && value !== null ? value : {}
  const named = ownerKinds.filter(({ reference }) => namesAny(reference, record))
  if (named.length === 1) return []
  const words = 'one of bizEntityID, personID and organisationID, or of their external forms'
  return [
    named.length === 0
      ? { field: 'bizEntityID', code: 'required', words: `needs an owner: give ${words}` }
      : {
          field: named[1]!.reference.fields[0]!,
          code: 'more_than_one_owner',
          words: `names a second owner: give ${words}`,
        },
  ]
}
