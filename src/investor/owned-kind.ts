import sql, { join, raw } from 'sql-template-tag'
import type { TObject } from 'typebox'
import type { Finding } from '../http/fields.ts'
import type { Fragment, Sql } from '../sql/handle.ts'
import { namesAny, type Reference } from '../sql/identify.ts'
import { type Row, rowColumns, type Table } from '../sql/rows.ts'
import { columnOfOwner, type Owner, type OwnerKind, ownerKinds } from './identities.ts'

/**
 * A kind of record that belongs to exactly one owner and is written in two ways: nested in its
 * owner's record (nested.ts), or by an endpoint of its own (owned.ts).
 */
export type OwnedKind = {
  /** The word for it in messages: address. */
  what: string
  table: Table
  owners: readonly OwnerKind[]
  /** How bodies and query strings name it: by its native and its external id. */
  reference: Reference
  parameter: Reference
  /** As answers show it. */
  record: TObject
  select: (where: Fragment) => Fragment
  /** The external id is for ever. */
  fixedExternalID?: boolean
  /** Brings all the records of one owner into agreement; those written now come last. */
  settle?: (rows: Row[]) => Row[]
}

export const externalColumn = ({ reference }: OwnedKind) => reference.identity.columns[1]!

/** The three columns that say whose a row is, one of them filled. */
export const ownerColumns = (owners: readonly OwnerKind[]): Record<string, string> =>
  Object.fromEntries(owners.map((kind) => [columnOfOwner(kind), 'integer']))

export const ownedBy = ({ owners }: OwnedKind, owner: Owner): Row =>
  Object.fromEntries(
    owners.map((kind) => [columnOfOwner(kind), kind === owner.kind ? owner.id : null]),
  )

export function ownerOf({ owners }: OwnedKind, row: Row): Owner {
  const kind = owners.find((one) => row[columnOfOwner(one)] !== null)!
  return { kind, id: row[columnOfOwner(kind)] as number }
}

/** The rows that these owners have now, oldest first. */
export async function rowsOfOwners(handle: Sql, kind: OwnedKind, owners: readonly Owner[]) {
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

/** A record names its owner by exactly one kind of id. */
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
