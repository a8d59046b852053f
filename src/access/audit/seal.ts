import sql from 'sql-template-tag'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { beginning, digestOf, linkHash } from './chain.ts'
import { type Head, type Signer, signedText } from './signer.ts'

/** Few enough for a short transaction. */
const atOnce = 2000
/** Any number of our own: one node seals at a time. */
const turn = 7_215_002

type Link = { position: number; auditID: number; xid: string; hash: Buffer }

/**
 * Seals the records that no transaction can put another before: in the order of their commits, one
 * link each, and a signature on the last. Tells whether there may be more. Writers never wait for
 * it, and it takes no lock that they need.
 */
export async function sealAudit(tx: Tx, signer: Signer): Promise<boolean> {
  const [lock] = await tx.query<{ isOurs: boolean }>(
    sql`select pg_try_advisory_xact_lock(${turn}) as "isOurs"`,
  )
  if (!lock!.isOurs) return false
  const links = await nextLinks(tx)
  if (links.length === 0) return false
  await tx.query(sql`
    insert into audit_link (position, audit_id, xid, hash)
    select * from unnest(${links.map(({ position }) => position)}::bigint[],
      ${links.map(({ auditID }) => auditID)}::bigint[],
      ${links.map(({ xid }) => xid)}::xid8[], ${links.map(({ hash }) => hash)}::bytea[])`)
  await signHead(tx, signer, links.at(-1)!)
  return links.length === atOnce
}

async function nextLinks(tx: Tx): Promise<Link[]> {
  const [last] = await tx.query<Link>(sql`
    select position, audit_id as "auditID", xid::text as xid, hash
    from audit_link order by position desc limit 1`)
  const records = await tx.query<{ auditID: number; xid: string; digest: Buffer }>(sql`
    select a.audit_id as "auditID", a.xid::text as xid, ${digestOf(sql`a`)} as digest
    from audit a
    where (a.xid, a.audit_id) > (${last?.xid ?? '0'}::xid8, ${last?.auditID ?? 0}::bigint)
      and a.xid < pg_snapshot_xmin(pg_current_snapshot())
    order by a.xid, a.audit_id limit ${atOnce}`)
  let [position, hash] = [last?.position ?? 0, last?.hash ?? beginning]
  return records.map(({ auditID, xid, digest }) => {
    position += 1
    hash = linkHash(hash, digest)
    return { position, auditID, xid, hash }
  })
}

async function signHead(tx: Tx, signer: Signer, { position, hash }: Link) {
  const [now] = await tx.query<{ sealedDate: string }>(
    sql`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "sealedDate"`,
  )
  const head: Head = { position, hash, sealedDate: now!.sealedDate }
  await tx.query(sql`
    insert into audit_seal (position, hash, sealed_date, public_key, signature)
    values (${position}, ${hash}, ${head.sealedDate}, ${signer.publicKey}, ${signer.sign(head)})`)
}

type SealRow = Head & { auditID: number; publicKey: string; signature: string }

/** The head of the chain, to be kept elsewhere: a trail that was cut off is found by it. */
export async function readSeal(handle: Sql) {
  const [seal] = await handle.query<SealRow>(sql`
    select s.position, s.hash, to_char(s.sealed_date at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "sealedDate", l.audit_id as "auditID",
      s.public_key as "publicKey", encode(s.signature, 'base64') as signature
    from audit_seal s join audit_link l using (position) order by s.position desc limit 1`)
  if (!seal) return { json: 'null', recordCount: 0, message: 'Nothing is sealed yet.' }
  const { hash, ...rest } = seal
  const data = { ...rest, hash: hash.toString('hex'), signedText: signedText(seal) }
  return { json: JSON.stringify(data), recordCount: 1 }
}
