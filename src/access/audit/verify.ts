import sql, { raw } from 'sql-template-tag'
import type { Sql } from '../../platform/sql/handle.ts'
import { utc } from '../../platform/sql/render.ts'
import { beginning, digestOf, linkHash, markBytes, markOf } from './chain.ts'
import { isSigned } from './signer.ts'

/** A fault of the chain, with the first record that shows it. */
export type Fault = {
  kind: 'changed' | 'removed' | 'inserted' | 'chain' | 'seal' | 'cut off'
  auditID: number | null
  position: number | null
  message: string
}

/** A head of the chain that was kept outside the database. */
export type KeptHead = { position: number; hash: string }

export type ChainReport = {
  records: number
  sealed: number
  seals: number
  faults: Fault[]
}

const atOnce = 5000

/**
 * A record of a seal, in the order of the chain. Large numbers are texts or numbers, depending on
 * the handle.
 */
type Row = {
  /** The position of the record's seal; sealHash is set only on the last record of the seal. */
  sealPosition: number | string
  sealHash: Buffer | null
  auditID: number | string
  mark: Buffer
  /** Null when the record no longer exists. */
  digest: Buffer | null
}

/**
 * Recomputes the whole chain as the handle sees it, which should be one unchanging snapshot.
 * Reports the first fault of each kind, with the fault found along the chain before the others.
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

/** Walks the sealed records in order, up to the first one that is not as it was sealed. */
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

/** The records of the next seals: of up to `atOnce` positions, or of one seal that spans more. */
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

/** Reports a seal beyond the last sealed record, which would be a seal without records. */
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

/** Finds a record outside all seals at a place that was already sealed: it was inserted later. */
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

/** Checks the signature of every seal; the walk has already compared its hash with the chain. */
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
