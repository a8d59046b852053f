import sql, { raw } from 'sql-template-tag'
import type { Sql } from '../../platform/sql/handle.ts'
import { utc } from '../../platform/sql/render.ts'
import { beginning, digestOf, linkHash, markBytes, markOf } from './chain.ts'
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

/** A record of a seal, in the order of the chain; handles differ in what large numbers come as. */
type Row = {
  /** Of the seal that it is in, and that one's hash: if it is its last. */
  sealPosition: number | string
  sealHash: Buffer | null
  auditID: number | string
  mark: Buffer
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

/** Walks what is sealed in order, up to the first record that is not what it must be. */
async function walk(handle: Sql): Promise<{ sealed: number; faults: Fault[] }> {
  let before: Buffer = beginning
  let position = 0
  for (;;) {
    const rows = await sealedAfter(handle, position)
    if (rows.length === 0) return { sealed: position, faults: await emptyFault(handle, position) }
    for (const row of rows) {
      const hash = row.digest && linkHash(before, row.digest)
      const fault = faultOf(row, position + 1, hash)
      if (fault) return { sealed: position, faults: [fault] }
      position += 1
      before = hash!
    }
  }
}

/** The records of the next seals: of some thousand places, or of one seal that lies beyond. */
const sealedAfter = (handle: Sql, position: number): Promise<Row[]> =>
  handle.query<Row>(sql`
    select s.position as "sealPosition",
      case when n.place = cardinality(s.audit_ids) then s.hash end as "sealHash",
      n.audit_id as "auditID",
      substring(s.marks from ((n.place - 1) * ${markBytes})::int + 1 for ${markBytes}) as mark,
      case when a.audit_id is not null then ${digestOf(sql`a`)} end as digest
    from audit_seal s
    cross join lateral unnest(s.audit_ids) with ordinality n (audit_id, place)
    left join audit a on a.audit_id = n.audit_id
    where s.position > ${position} and s.position <= greatest(${position} + ${atOnce}::bigint,
      (select min(o.position) from audit_seal o where o.position > ${position}))
    order by s.position, n.place`)

/** What is sealed ends where the last seal says. */
async function emptyFault(handle: Sql, position: number): Promise<Fault[]> {
  const [seal] = await handle.query<{ position: string }>(sql`
    select position::text as position from audit_seal where position > ${position}
    order by position limit 1`)
  if (!seal) return []
  const message = `The seal at position ${seal.position} is of no records.`
  return [{ kind: 'chain', auditID: null, position: Number(seal.position), message }]
}

function faultOf(row: Row, position: number, hash: Buffer | null): Fault | undefined {
  const { mark, sealHash } = row
  const [auditID, sealPosition] = [Number(row.auditID), Number(row.sealPosition)]
  const fault = (kind: Fault['kind'], message: string): Fault => ({
    kind,
    auditID,
    position,
    message,
  })
  if (hash === null) return fault('removed', `Audit record ${auditID} was removed.`)
  if (!mark.equals(markOf(hash)) || (sealHash && !sealHash.equals(hash)))
    return fault('changed', `Audit record ${auditID} was changed, or is not in its place.`)
  if (position > sealPosition || (sealHash && position !== sealPosition))
    return fault('chain', `The seal at position ${sealPosition} is not of as many records.`)
  return undefined
}

/** A record that should have been sealed and was not came in later, at a place that was past. */
async function insertedFault(handle: Sql): Promise<Fault[]> {
  const [row] = await handle.query<{ auditID: string }>(sql`
    with last as (
      select xid, audit_ids[cardinality(audit_ids)] as audit_id
      from audit_seal order by position desc limit 1)
    select a.audit_id::text as "auditID" from audit a, last
    where (a.xid is null or (a.xid, a.audit_id) <= (last.xid, last.audit_id))
      and not exists (
        select 1 from (select unnest(audit_ids) as audit_id from audit_seal) s
        where s.audit_id = a.audit_id)
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
}

/** Every seal is signed; that its hash is the chain's is seen on the walk. */
async function sealFaults(handle: Sql): Promise<Fault[]> {
  for (let position = 0; ; ) {
    const rows = await handle.query<SealRow>(sql`
      select s.position, s.hash, ${raw(utc('s.sealed_date'))} as "sealedDate",
        s.public_key as "publicKey", s.signature,
        s.audit_ids[cardinality(s.audit_ids)] as "auditID"
      from audit_seal s
      where s.position > ${position} order by s.position limit ${atOnce}`)
    for (const row of rows) {
      const head = { ...row, position: Number(row.position) }
      if (isSigned(head, row.publicKey, row.signature)) continue
      const auditID = row.auditID === null ? null : Number(row.auditID)
      const message = `The seal at position ${head.position} is not of this chain.`
      return [{ kind: 'seal', auditID, position: head.position, message }]
    }
    if (rows.length < atOnce) return []
    position = Number(rows.at(-1)!.position)
  }
}

async function keptFault(handle: Sql, { position, hash }: KeptHead): Promise<Fault[]> {
  const [seal] = await handle.query<{ hash: Buffer; auditID: number | string | null }>(sql`
    select hash, audit_ids[cardinality(audit_ids)] as "auditID"
    from audit_seal where position = ${position}`)
  if (seal?.hash.toString('hex') === hash.toLowerCase()) return []
  const auditID = seal?.auditID ? Number(seal.auditID) : null
  const message = seal
    ? `The chain at position ${position} is not the one of the kept head.`
    : `The chain has no seal at position ${position} of the kept head: its end was cut off.`
  return [{ kind: 'cut off', auditID, position, message }]
}
