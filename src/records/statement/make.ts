import { writeFile } from 'node:fs/promises'
import sql from 'sql-template-tag'
import { conflict } from '../../platform/refusal.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { fileNameOf, indexHead, indexLine, type Printed } from './index-file.ts'
import type { StatementSubject } from './kind.ts'
import { letterOf, statementKinds } from './kinds.ts'
import type { Issuer, Letter } from './letter.ts'
import { type HolderRow, withHolders } from './parts.ts'
import { printLetters } from './press.ts'
import { openPress } from './press-pool.ts'
import { openZip } from './zip.ts'

export type StatementOrder = StatementSubject & { typeID: number }

export type StatementTools = {
  snapshot: Snapshot
  /** The bytes of a document's file: the issuer's logo. */
  readFile: (sha256: string) => Promise<Buffer>
  signal: AbortSignal
  /** The moment whose state the letters show. */
  moment: Date
  /** Called after each batch. */
  onPrinted: (printed: readonly Printed[]) => Promise<void>
}

type Letterhead = { issuer: Issuer; logo: Buffer | undefined; day: string; shared: unknown }

/** One PDF with the letters of one investor. */
export async function makePdf(tools: StatementTools, order: StatementOrder, path: string) {
  const { issuer, logo, shared } = await letterheadOf(tools, order)
  const letters: Letter[] = []
  for await (const rows of holdersOf(tools, order, shared))
    for (const row of rows) letters.push(letterOf(order.typeID, shared, row))
  if (letters.length === 0) throw nothingToState()
  await writeFile(path, await printLetters({ issuer, logo, moment: tools.moment }, letters))
  return letters.length
}

/** A zip with a PDF for each account and an index file. */
export async function makeZip(tools: StatementTools, order: StatementOrder, path: string) {
  const { issuer, logo, shared, day } = await letterheadOf(tools, order)
  const zip = await openZip(path)
  const press = openPress({ kindID: order.typeID, shared, issuer, logo, moment: tools.moment })
  try {
    const index: Buffer[] = [Buffer.from(indexHead)]
    let count = 0
    for await (const { rows, letters } of printed(tools, order, { shared, press })) {
      tools.signal.throwIfAborted()
      const batch: Printed[] = []
      for (const [i, row] of rows.entries()) {
        const letter = letters[i]!
        const fileName = fileNameOf(row, day)
        const offset = await zip.add(fileName, letter)
        batch.push({ row, fileName, offset, size: letter.length })
      }
      index.push(Buffer.from(batch.map(indexLine).join('')))
      count += batch.length
      await tools.onPrinted(batch)
    }
    if (count === 0) throw nothingToState()
    await zip.add('index.csv', Buffer.concat(index))
    await zip.end()
    return count
  } finally {
    press.close()
    await zip.close()
  }
}

const nothingToState = () =>
  conflict('nothing_to_state', 'No account has anything to report in such a statement.')

/** The number of accounts that a printing process receives in one task. */
const taskSize = 25

type Printing = { shared: unknown; press: ReturnType<typeof openPress> }

/**
 * Yields rows with their letters in the order of the rows, keeping `press.width` tasks under way so
 * that all printing processes stay busy.
 */
async function* printed(tools: StatementTools, order: StatementOrder, how: Printing) {
  const { shared, press } = how
  const queue: { rows: HolderRow[]; letters: Promise<Buffer[]> }[] = []
  const next = async () => {
    const { rows, letters } = queue.shift()! // called only while the queue is not empty
    return { rows, letters: await letters }
  }
  for await (const batch of holdersOf(tools, order, shared)) {
    for (let at = 0; at < batch.length; at += taskSize) {
      const rows = batch.slice(at, at + taskSize)
      const letters = press.print(rows)
      letters.catch(() => {}) // the await in `next` reports the error
      queue.push({ rows, letters })
      if (queue.length >= press.width) yield await next()
    }
  }
  while (queue.length > 0) yield await next()
}

const holdersOf = ({ snapshot }: StatementTools, order: StatementOrder, shared: unknown) =>
  snapshot.stream<HolderRow>(
    withHolders(statementKinds[order.typeID]!.accounts(order, shared)),
    8 * taskSize,
  )

async function letterheadOf(tools: StatementTools, order: StatementOrder): Promise<Letterhead> {
  const { snapshot } = tools
  const [row] = await snapshot.query<{ name: string; issuer: string | null; logo: string | null }>(
    sql`
      select p.name, p.issuer::text as issuer, d.file_sha256 as logo
      from product p
      left join document d on d.document_id = (p.issuer ->> 'logoDocumentID')::int
        and d.product_id = p.product_id and d.content_type in ('image/png', 'image/jpeg')
      where p.product_id = ${order.productID}`,
  )
  const { name, issuer, logo } = row!
  const own = issuer ? (JSON.parse(issuer) as Partial<Issuer>) : {}
  const { day, ...shared } = await statementKinds[order.typeID]!.shared(snapshot, order).then(
    (read) => read as { day: string },
  )
  return {
    issuer: { ...own, name: own.name ?? name },
    logo: logo ? await tools.readFile(logo) : undefined,
    day,
    shared,
  }
}
