import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { verify } from '../../src/operations/verify/verify.ts'
import { rowsOf } from '../support/database.ts'
import type { Operation } from './operations.ts'

export type Outcome = 'acknowledged' | 'in doubt' | 'refused'
export type Sent = Operation & { outcome: Outcome }

/** How often each write is in the database: by the audit trail, and by the records it made. */
export type Picture = { audits: Map<string, number>; records: Map<string, number> }

export async function look(connection: pg.ClientConfig): Promise<Picture> {
  const counts = async (text: string) => {
    const rows = await rowsOf(
      connection,
      `select mark, count(*)::int as n from (${text}) m group by 1`,
    )
    return new Map<string, number>(rows.map(({ mark, n }) => [mark, n]))
  }
  return {
    audits: await counts(`
      select mark from audit, unnest(coalesce(request_ids, array[request_id])) mark
      where mark like 'write-%'`),
    records: await counts(`
      select comment as mark from biz_transaction where comment like 'write-%'
      union all select name from distribution
      union all select name from document
      union all select name from report
      union all
      select 'distribution ' || corporate_action_id || ' stage ' || stage
      from distribution, generate_series(2, distribution_status_id) stage
      union all
      select 'document ' || document_id || ' file ' || file_sha256 from document
      where file_sha256 is not null`),
  }
}

/** An acknowledged write must be there once, a refused one never; one in doubt may be either. */
export type Verdict = 'once' | 'never' | 'partly' | 'doubled'

export function verdictOf({ audits, records }: Picture, { id, mark, rows }: Operation): Verdict {
  const [audited, recorded] = [audits.get(id) ?? 0, records.get(mark) ?? 0]
  if (audited > 1 || recorded > rows) return 'doubled'
  if (audited === 0 && recorded === 0) return 'never'
  return audited === 1 && recorded === rows ? 'once' : 'partly'
}

/** The faults among the writes whose outcome is known. */
export function judge(picture: Picture, sent: Sent[]) {
  const known = sent
    .filter(({ outcome }) => outcome !== 'in doubt')
    .map((one) => ({ ...one, verdict: verdictOf(picture, one) }))
  const ids = (which: (one: (typeof known)[number]) => boolean) =>
    known.filter(which).map(({ id, path }) => `${id} ${path}`)
  const isAcknowledged = ({ outcome }: Sent) => outcome === 'acknowledged'
  return {
    lost: ids((one) => isAcknowledged(one) && ['never', 'partly'].includes(one.verdict)),
    doubled: ids(({ verdict }) => verdict === 'doubled'),
    unwanted: ids((one) => !isAcknowledged(one) && ['once', 'partly'].includes(one.verdict)),
  }
}

/** The findings of `verify`, in words. */
export async function findings(connection: pg.ClientConfig): Promise<string[]> {
  const found = (await verify(connection)).filter((one) => one.found > 0 && !one.isNote)
  return found.map(({ name, examples }) => `verify: not so: ${name}: ${examples[0]}`)
}

/** The files in the data folder that differ from their names or from the records. */
export async function fileTroubles(connection: pg.ClientConfig, dataDir: string) {
  const folder = join(dataDir, 'files')
  const troubles = contentsOf(folder)
    .filter(({ path, name }) => hashOf(path) !== name)
    .map(({ path }) => `${path} is not what its name says`)
  const referred = await rowsOf(
    connection,
    `select 'document ' || document_id as who, file_sha256 as hash, file_size::int as size
    from document where file_sha256 is not null
    union all
    select 'report ' || report_id, file_sha256, file_size::int from report
    where report_status_id = 3 or file_sha256 is not null`,
  )
  for (const { who, hash, size } of referred) {
    const path = join(folder, String(hash).slice(0, 2), String(hash).slice(2, 4), String(hash))
    if (!existsSync(path)) troubles.push(`${who}: its file is not there`)
    else if (statSync(path).size !== size) troubles.push(`${who}: its file has another size`)
  }
  return troubles
}

const contentsOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('drafts'))
    .map(({ parentPath, name }) => ({ name, path: join(parentPath, name) }))

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
