import sql, { raw } from 'sql-template-tag'
import type { Files, Transaction } from '../../platform/files/files.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { forwardReader } from './forward-reader.ts'
import { kinds } from './kinds.ts'
import { type Mailer, type Outcome, outcomeOf } from './mailer.ts'
import { outdatedBy, type Told, toldColumns } from './outdated.ts'
import { type ActorOf, isAuthorised } from './rights.ts'
import { noSender, queueSending } from './send.ts'

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
  /**
   * The user and the API key that had the report sent; null for reports sent before this was
   * stored.
   */
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
  /** When this process last marked the letter as being sent. */
  since: string
}

/** Some letters of one report, and as whom they are sent. */
type Batch = { letters: Letter[]; title: string; sender: Sender }
type Sender = { name: string; address: string }

/** The number of letters that are claimed at once. */
const batch = 10

/**
 * Sends the queued letters of a report. A letter is marked before and after it is handed to the
 * mail server: a letter marked by a sender that died may have gone out, so it is not sent again.
 * Before each batch it is checked again whether they may go out, and as whom.
 */
export async function sendStatements(deliverer: Deliverer, reportID: number, signal: AbortSignal) {
  const { transaction, files, mailer } = deliverer
  const report = await transaction((tx) => readReport(tx, reportID))
  if (!report || !mailer) return
  const reader = forwardReader(() => files.open(report.sha256))
  let untried: Letter[] = []
  try {
    for (;;) {
      const next = signal.aborted ? undefined : await nextLetters(deliverer, reportID)
      if (!next?.letters.length) break
      untried = next.letters
      for (let letter = untried[0]; letter && !signal.aborted; letter = untried[0]) {
        const content = await reader.read(letter.offset, letter.size)
        const rest = untried.slice(1)
        untried = rest
        const outcome = await send(mailer, next, letter, content, signal)
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
 * Claims the next letters. Returns none once the user or key has lost the right to send them, what
 * the letters state has been reversed, or the sender has no address any more; the letters that are
 * left then count as never sent.
 */
async function nextLetters(
  { transaction, actorOf, from }: Deliverer,
  reportID: number,
): Promise<Batch | undefined> {
  const report = await transaction((tx) => readReport(tx, reportID))
  if (!report) return undefined
  const { userID, issuer, issuerEmail, typeID } = report
  const address = from ?? issuerEmail
  const refusal = address ? await transaction((tx) => outdatedBy(tx, report)) : noSender()
  if (!address || refusal) {
    await transaction((tx) => holdBack(tx, reportID, refusal!.message))
    return undefined
  }
  if (userID === null || (await isAuthorised(actorOf, { ...report, userID }))) {
    const letters = await transaction((tx) => claim(tx, reportID))
    return { letters, title: kinds[typeID]!.title, sender: { name: issuer, address } }
  }
  await transaction((tx) => takeBack(tx, reportID, report))
  return undefined
}

/**
 * Resets the queued letters as if they had never been sent, so that another user can send them.
 * This does nothing where another user has just sent the report: that request holds the lock of the
 * report row until it commits, and its own job sends the letters.
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

/** Whether a letter is due: it was not put off, or the time it was put off to has come. */
const isDue = (alias: string) =>
  raw(`(${alias}.put_off_until is null or ${alias}.put_off_until <= now())`)

/**
 * Letters o that this process still holds: not reported as lost meanwhile, and not taken by
 * another.
 */
const ours = (reportID: number, letters: readonly Letter[]) => sql`
  unnest(${letters.map(({ accountID }) => accountID)}::int[],
    ${letters.map(({ since }) => since)}::timestamptz[]) o (account_id, since)
  where s.report_id = ${reportID} and s.account_id = o.account_id and s.state = 'Sending'
    and s.state_date = o.since`

/**
 * Renews the mark of claimed letters that wait for the letter before them, so that they are not
 * reported as lost while their sender lives. Returns only letters that this process still holds.
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

/** Puts claimed letters that were not tried back into the queue. */
const unclaim = (tx: Tx, reportID: number, untried: Letter[]) =>
  tx.query(sql`
    update report_statement s set state = 'Queued', attempts = attempts - 1
    from ${ours(reportID, untried)}`)

async function send(
  mailer: Mailer,
  { title, sender }: Batch,
  { name, email, fileName, attempts }: Letter,
  content: Buffer,
  signal: AbortSignal,
): Promise<Outcome> {
  const mail = {
    from: sender,
    // As an object it is one address; a text would be read as a list of names and addresses.
    to: { name: '', address: email },
    subject: `${title} – ${sender.name}`,
    text: `Dear ${name},\n\nYour ${title.toLowerCase()} is attached.\n\n${sender.name}\n`,
    attachments: [{ filename: fileName, content, contentType: 'application/pdf' }],
  }
  const handed = await mailer.send(mail, signal)
  return outcomeOf(handed, attempts)
}

const record = (tx: Tx, reportID: number, letter: Letter, outcome: Outcome) =>
  tx.query(sql`
    update report_statement s set state = ${outcome.state}, reason = ${outcome.reason},
      attempts = attempts - ${outcome.isUntried ? 1 : 0}, state_date = now(),
      put_off_until = now() + make_interval(mins => ${outcome.minutes ?? null})
    from ${ours(reportID, [letter])}`)

/**
 * Marks letters of a process that died as failed, since it is not known whether they went out, and
 * queues jobs for letters that wait, including letters whose time to be retried has come. Any node
 * may do this at any time.
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
