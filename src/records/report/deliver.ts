import sql, { raw } from 'sql-template-tag'
import type { Files, Transaction } from '../../platform/files/files.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { forwardReader } from './forward-reader.ts'
import { kinds } from './kinds.ts'
import { type Mailer, type Outcome, outcomeOf } from './mailer.ts'
import { outdatedBy, type Told, toldColumns } from './outdated.ts'
import { type ActorOf, isAuthorised } from './rights.ts'
import { queueSending } from './send.ts'

export type Deliverer = {
  transaction: Transaction
  files: Files
  actorOf: ActorOf
  mailer: Mailer | undefined
  from: string | undefined
}

type Report = Told & {
  sha256: string
  issuer: string
  issuerEmail: string | null
  /** Who had it sent, and with which API key; nobody of before that was remembered. */
  userID: number | null
  apiKeyID: number | null
}
type Letter = {
  accountID: number
  name: string
  email: string
  fileName: string
  offset: number
  size: number
  attempts: number
  /** When it was last marked as being sent by us. */
  since: string
}

/** Letters that are claimed at once. */
const batch = 10

/**
 * Sends what is queued of a report. A letter is marked before it is handed to the server, and
 * after: one that was marked and whose sender died may have gone out, and is not sent again.
 * Before each batch it is asked whether who had them sent still may.
 */
export async function sendStatements(deliverer: Deliverer, reportID: number, signal: AbortSignal) {
  const { transaction, files, mailer } = deliverer
  const report = await transaction((tx) => readReport(tx, reportID))
  if (!report || !mailer) return
  const reader = forwardReader(() => files.open(report.sha256))
  let untried: Letter[] = []
  try {
    for (;;) {
      const letters = signal.aborted ? [] : await nextLetters(deliverer, reportID)
      if (letters.length === 0) break
      untried = letters
      for (let letter = untried[0]; letter && !signal.aborted; letter = untried[0]) {
        const content = await reader.read(letter.offset, letter.size)
        const rest = untried.slice(1)
        untried = rest
        const outcome = await send(deliverer, report, letter, content, signal)
        const tried = letter
        untried = await transaction(async (tx) => {
          await record(tx, reportID, tried, outcome)
          return renew(tx, reportID, rest)
        })
        if (outcome.error) throw outcome.error
      }
    }
    if (signal.aborted) await transaction((tx) => queueSending(tx, reportID))
  } finally {
    reader.close()
    if (untried.length > 0) await transaction((tx) => unclaim(tx, reportID, untried))
  }
}

async function readReport(tx: Tx, reportID: number): Promise<Report | undefined> {
  const [report] = await tx.query<Report>(sql`
    select ${toldColumns}, r.file_sha256 as sha256,
      coalesce(p.issuer ->> 'name', p.name) as issuer, p.issuer ->> 'email' as "issuerEmail",
      r.sender_user_id as "userID", r.sender_api_key_id as "apiKeyID"
    from report r join product p on p.product_id = r.product_id
    where r.report_id = ${reportID} and r.file_sha256 is not null`)
  return report
}

/**
 * None, once who had them sent may not any more, or what they tell was taken back: then those that
 * are left are as if they had never been sent.
 */
async function nextLetters({ transaction, actorOf }: Deliverer, reportID: number) {
  const report = await transaction((tx) => readReport(tx, reportID))
  if (!report) return []
  const outdated = await transaction((tx) => outdatedBy(tx, report))
  if (outdated) {
    await transaction((tx) => holdBack(tx, reportID, outdated.message))
    return []
  }
  const { userID } = report
  if (userID === null || (await isAuthorised(actorOf, { ...report, userID })))
    return transaction((tx) => claim(tx, reportID))
  await transaction((tx) => takeBack(tx, reportID, report))
  return []
}

/**
 * As if they had never been sent: somebody else may. Not where somebody else has just done so, who
 * holds the report's row while they do; their own job sends them.
 */
const takeBack = (tx: Tx, reportID: number, { userID, apiKeyID }: Report) =>
  tx.query(sql`
    with mine as materialized (
      select r.report_id from report r
      where r.report_id = ${reportID} and r.sender_user_id = ${userID}
        and r.sender_api_key_id is not distinct from ${apiKeyID} for update)
    update report_statement s set
      ${neverSent('Who had it sent may not do so any more; send it anew.')}
    from mine where s.report_id = mine.report_id and s.state = 'Queued'`)

const holdBack = (tx: Tx, reportID: number, reason: string) =>
  tx.query(sql`
    update report_statement s set ${neverSent(reason)}
    where s.report_id = ${reportID} and s.state = 'Queued'`)

const neverSent = (reason: string) =>
  sql`state = 'Made', attempts = 0, put_off_until = null, state_date = now(), reason = ${reason}`

const claim = async (tx: Tx, reportID: number): Promise<Letter[]> => {
  const letters = await tx.query<Letter>(sql`
    update report_statement s set state = 'Sending', state_date = now(), attempts = attempts + 1
    where s.report_id = ${reportID} and s.account_id = any(array(
      select q.account_id from report_statement q
      where q.report_id = ${reportID} and q.state = 'Queued' and ${isDue('q')}
      order by q.file_offset limit ${batch} for update skip locked))
    returning s.account_id as "accountID", s.name, s.email, s.file_name as "fileName",
      s.file_offset as "offset", s.file_size as size, s.attempts, s.state_date as since`)
  return letters.sort((a, b) => a.offset - b.offset)
}

/** Whether a letter is not put off, or not any longer. */
const isDue = (alias: string) =>
  raw(`(${alias}.put_off_until is null or ${alias}.put_off_until <= now())`)

/** Letters o that are still marked by us: not told as lost meanwhile, nor another's by now. */
const ours = (reportID: number, letters: readonly Letter[]) => sql`
  unnest(${letters.map(({ accountID }) => accountID)}::int[],
    ${letters.map(({ since }) => since)}::timestamptz[]) o (account_id, since)
  where s.report_id = ${reportID} and s.account_id = o.account_id and s.state = 'Sending'
    and s.state_date = o.since`

/**
 * Those that wait for the one before them are marked anew, however long that took: they are not
 * told as lost while their sender lives. What is not ours any more is not sent.
 */
async function renew(tx: Tx, reportID: number, letters: Letter[]): Promise<Letter[]> {
  if (letters.length === 0) return []
  const renewed = await tx.query<Pick<Letter, 'accountID' | 'since'>>(sql`
    update report_statement s set state_date = now() from ${ours(reportID, letters)}
    returning s.account_id as "accountID", s.state_date as since`)
  const sinces = new Map(renewed.map(({ accountID, since }) => [accountID, since]))
  return letters.flatMap((letter) => {
    const since = sinces.get(letter.accountID)
    return since === undefined ? [] : [{ ...letter, since }]
  })
}

/** What of our claim was not tried goes back. */
const unclaim = (tx: Tx, reportID: number, untried: Letter[]) =>
  tx.query(sql`
    update report_statement s set state = 'Queued', attempts = attempts - 1
    from ${ours(reportID, untried)}`)

async function send(
  { mailer, from }: Deliverer,
  { typeID, issuer, issuerEmail }: Report,
  { name, email, fileName, attempts }: Letter,
  content: Buffer,
  signal: AbortSignal,
): Promise<Outcome> {
  const { title } = kinds[typeID]!
  const mail = {
    from: { name: issuer, address: from ?? issuerEmail! }, // Send asked for one of them
    to: email,
    subject: `${title} – ${issuer}`,
    text: `Dear ${name},\n\nYour ${title.toLowerCase()} is attached.\n\n${issuer}\n`,
    attachments: [{ filename: fileName, content, contentType: 'application/pdf' }],
  }
  const handed = await mailer!.send(mail, signal)
  return outcomeOf(handed, attempts)
}

const record = (tx: Tx, reportID: number, letter: Letter, outcome: Outcome) =>
  tx.query(sql`
    update report_statement s set state = ${outcome.state}, reason = ${outcome.reason},
      attempts = attempts - ${outcome.isUntried ? 1 : 0}, state_date = now(),
      put_off_until = now() + make_interval(mins => ${outcome.minutes ?? null})
    from ${ours(reportID, [letter])}`)

/**
 * What a process that died was sending is told as not known, and what waits is sent by another;
 * so is what was put off, when its time has come.
 * Any node may do this at any time.
 */
export const reviveSending = (transaction: Transaction) =>
  transaction(async (tx) => {
    await tx.query(sql`
      update report_statement s set state = 'Failed', state_date = now(),
        reason = 'It is not known whether it was sent: what sent it has ended.'
      where s.state = 'Sending' and s.state_date < now() - interval '5 minutes'`)
    const asleep = await tx.query<{ id: number }>(sql`
      select s.report_id as id from report_statement s where s.state in ('Queued', 'Sending')
        and ${isDue('s')}
      group by s.report_id having max(s.state_date) < now() - interval '30 seconds' limit 20`)
    for (const { id } of asleep) await queueSending(tx, id)
  })
