import sql, { raw } from 'sql-template-tag'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { lockNumbers } from '../../platform/sql/lock-numbers.ts'
import { utc } from '../../platform/sql/render.ts'
import { beginning, digestOf, linkHash, markOf } from './chain.ts'
import { type Head, type Signer, signedText } from './signer.ts'

/** Records sealed in one transaction: few enough to keep it short. */
const atOnce = 2000

/** A seal: the records since the seal before, which are sealed together. */
type Sealed = { position: number; hash: Buffer; xid: string; auditIDs: number[]; marks: Buffer }

/**
 * Seals the records that no running transaction can put another record before: in order of
 * transaction number and id, with a signature on the last one. Returns whether there may be more
 * records. Writers never wait for the sealer, and it takes no lock that they need.
 */
export async function sealAudit(tx: Tx, signer: Signer): Promise<boolean> {
  const [lock] = await tx.query<{ isOurs: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockNumbers.seal}) as "isOurs"`,
  )
  if (!lock!.isOurs) return false
  const sealed = await nextSealed(tx)
  if (!sealed) return false
  await sign(tx, signer, sealed)
  return sealed.auditIDs.length === atOnce
}

type Last = { position: number; hash: Buffer; xid: string; auditID: number }

async function nextSealed(tx: Tx): Promise<Sealed | undefined> {
  const [last] = await tx.query<Last>(sql`
    select position, hash, xid::text as xid,
      coalesce(audit_ids[cardinality(audit_ids)], 0) as "auditID"
    from audit_seal order by position desc limit 1`)
  const records = await tx.query<{ auditID: number; xid: string; digest: Buffer }>(sql`
    select a.audit_id as "auditID", a.xid::text as xid, ${digestOf(sql`a`)} as digest
    from audit a
    where (a.xid, a.audit_id) > (${last?.xid ?? '0'}::xid8, ${last?.auditID ?? 0}::bigint)
      and a.xid < pg_snapshot_xmin(pg_current_snapshot())
    order by a.xid, a.audit_id limit ${atOnce}`)
  if (records.length === 0) return undefined
  let hash = last?.hash ?? beginning
  const marks = records.map(({ digest }) => {
    hash = linkHash(hash, digest)
    return markOf(hash)
  })
  return {
    position: (last?.position ?? 0) + records.length,
    hash,
    xid: records.at(-1)!.xid,
    auditIDs: records.map(({ auditID }) => auditID),
    marks: Buffer.concat(marks),
  }
}

async function sign(tx: Tx, signer: Signer, { position, hash, xid, auditIDs, marks }: Sealed) {
  const [now] = await tx.query<{ sealedDate: string }>(
    sql`select ${raw(utc('now()'))} as "sealedDate"`,
  )
  const head: Head = { position, hash, sealedDate: now!.sealedDate }
  await tx.query(sql`
    insert into audit_seal (position, hash, sealed_date, public_key, signature, xid, audit_ids,
      marks)
    values (${position}, ${hash}, ${head.sealedDate}, ${signer.publicKey}, ${signer.sign(head)},
      ${xid}::xid8, ${auditIDs}::bigint[], ${marks})`)
}

type SealRow = Head & { auditID: number; publicKey: string; signature: string }

/**
 * The signed head of the chain. Kept elsewhere, it shows later whether the end of the audit trail
 * was cut off.
 */
export async function readSeal(handle: Sql) {
  const [seal] = await handle.query<SealRow>(sql`
    select s.position, s.hash, ${raw(utc('s.sealed_date'))} as "sealedDate",
      s.audit_ids[cardinality(s.audit_ids)] as "auditID", s.public_key as "publicKey",
      encode(s.signature, 'base64') as signature
    from audit_seal s order by s.position desc limit 1`)
  if (!seal) return { json: 'null', recordCount: 0, message: 'Nothing is sealed yet.' }
  const { hash, ...rest } = seal
  const data = { ...rest, hash: hash.toString('hex'), signedText: signedText(seal) }
  return { json: JSON.stringify(data), recordCount: 1 }
}
