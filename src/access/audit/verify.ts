import sql from 'sql-template-tag'
import type { Sql } from '../../platform/sql/handle.ts'
import { beginning, digestOf, linkHash } from './chain.ts'
import { isSigned } from './signer.ts'

/** What is wrong with the chain, and the first record that shows it. */
export type Fault = {
  kind: 'changed' | 'removed' | 'inserted' | 'chain' | 'seal' | 'cut off'
  auditID: number | null
  position: number | null
  message: string
}

/** A head that was kept elsewhere. */
export type KeptHead = { position: number; hash: string }

export type ChainReport = {
  records: number
  sealed: number
  seals: number
  faults: Fault[]
}

const atOnce = 5000

type Row = {
  position: number
  auditID: number
  hash: Buffer
  /** Null: the record is gone. */
  digest: Buffer | null
}

/**
 * Recomputes the whole chain on what the handle sees, which should be one unmoving picture; tells
 * the first fault of each kind, the first of all before the others.
 */
export async function verifyChain(handle: Sql, kept?: KeptHead): Promise<ChainReport> {
  const walked = await walk(handle)
  const faults = [
    ...walked.faults,
    ...(await insertedFault(handle)),
    ...(await sealFaults(handle)),
    ...(kept ? await keptFault(handle, kept) : []),
  ]
  const [counts] = await handle.query<{ records: string; seals: string }>(sql`
    select (select count(*) from audit)::text as records,
      (select count(*) from audit_seal)::text as seals`)
  const { records, seals } = counts!
  return { records: Number(records), sealed: walked.sealed, seals: Number(seals), faults }
}

/** Walks the links in order up to the first that is not what it must be. */
async function walk(handle: Sql): Promise<{ sealed: number; faults: Fault[] }> {
  let before: Buffer = beginning
  let position = 0
  for (;;) {
    const rows = await handle.query<Row>(sql`
      select l.position, l.audit_id as "auditID", l.hash,
        case when a.audit_id is not null then ${digestOf(sql`a`)} end as digest
      from audit_link l left join audit a using (audit_id)
      where l.position > ${position} order by l.position limit ${atOnce}`)
    for (const row of rows) {
      const fault = faultOf(row, position + 1, before)
      if (fault) return { sealed: position, faults: [fault] }
      position += 1
      before = row.hash
    }
    if (rows.length < atOnce) return { sealed: position, faults: [] }
  }
}

function faultOf(row: Row, expected: number, before: Buffer): Fault | undefined {
  const place = { auditID: Number(row.auditID), position: Number(row.position) }
  if (place.position !== expected)
    return { kind: 'chain', ...place, message: `The link at position ${expected} is missing.` }
  if (row.digest === null)
    return { kind: 'removed', ...place, message: `Audit record ${row.auditID} was removed.` }
  if (linkHash(before, row.digest).equals(row.hash)) return undefined
  return {
    kind: 'changed',
    ...place,
    message: `Audit record ${row.auditID} was changed, or is not in its place.`,
  }
}

/** A record that should have been sealed and was not came in later, at a place that was past. */
async function insertedFault(handle: Sql): Promise<Fault[]> {
  const [row] = await handle.query<{ auditID: string }>(sql`
    with last as (select xid, audit_id from audit_link order by position desc limit 1)
    select a.audit_id::text as "auditID" from audit a, last
    where (a.xid is null or (a.xid, a.audit_id) <= (last.xid, last.audit_id))
      and not exists (select 1 from audit_link l where l.audit_id = a.audit_id)
    order by a.audit_id limit 1`)
  if (!row) return []
  const auditID = Number(row.auditID)
  const message = `Audit record ${auditID} was inserted later.`
  return [{ kind: 'inserted', auditID, position: null, message }]
}

type SealRow = {
  position: number
  hash: Buffer
  sealedDate: string
  publicKey: string
  signature: Buffer
  auditID: number | null
  isHead: boolean
}

/** Every seal is signed, and is of the hash that its link has. */
async function sealFaults(handle: Sql): Promise<Fault[]> {
  for (let position = 0; ; ) {
    const rows = await handle.query<SealRow>(sql`
      select s.position, s.hash, to_char(s.sealed_date at time zone 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "sealedDate", s.public_key as "publicKey", s.signature,
        l.audit_id as "auditID", coalesce(l.hash = s.hash, false) as "isHead"
      from audit_seal s left join audit_link l using (position)
      where s.position > ${position} order by s.position limit ${atOnce}`)
    for (const row of rows) {
      const head = { ...row, position: Number(row.position) }
      if (row.isHead && isSigned(head, row.publicKey, row.signature)) continue
      const auditID = row.auditID === null ? null : Number(row.auditID)
      const message = `The seal at position ${head.position} is not of this chain.`
      return [{ kind: 'seal', auditID, position: head.position, message }]
    }
    if (rows.length < atOnce) return []
    position = Number(rows.at(-1)!.position)
  }
}

async function keptFault(handle: Sql, { position, hash }: KeptHead): Promise<Fault[]> {
  const [link] = await handle.query<{ hash: Buffer; auditID: number }>(sql`
    select hash, audit_id as "auditID" from audit_link where position = ${position}`)
  if (link?.hash.toString('hex') === hash.toLowerCase()) return []
  const auditID = link ? Number(link.auditID) : null
  const message = link
    ? `The chain at position ${position} is not the one of the kept head.`
    : `The chain ends before position ${position} of the kept head: its end was cut off.`
  return [{ kind: 'cut off', auditID, position, message }]
}
