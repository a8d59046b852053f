import { Readable } from 'node:stream'
import sql from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import type { Actor } from '../../platform/actor.ts'
import { type Download, rawParameter } from '../../platform/http/download.ts'
import {
  arrayOf,
  downloading,
  type Endpoint,
  nothing,
  reading,
  writing,
} from '../../platform/http/endpoint.ts'
import { conflict, notFound, permissionMissing } from '../../platform/refusal.ts'
import { Id, optional } from '../../platform/shape/fields.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { recordDownload } from '../../platform/sql/unit-of-work.ts'
import { approveRun, lockOthers } from './approve.ts'
import { createRun } from './create.ts'
import { reissue } from './reissue.ts'
import {
  Payment,
  PaymentQuery,
  PaymentRun,
  PaymentRunInput,
  Reissue,
  RunKey,
  RunParameter,
  RunQuery,
  RunResult,
  Unclaimed,
} from './schema.ts'
import { findRun, ofRun, readPayments, readRuns } from './sql.ts'
import { deleteRun, markUnclaimed, recordResults, sendRun } from './steps.ts'

const FileQuery = Type.Object({
  PaymentRunID: Id,
  FileNumber: optional(Type.Integer({ minimum: 1, maximum: 32_767 })),
  ...rawParameter,
})
const RunFile = Type.Object({
  paymentRunID: Id,
  fileNumber: Type.Integer(),
  fileName: Type.String(),
  contentType: Type.String(),
  size: Type.Integer(),
  sha256: Type.String(),
  content: Type.String(),
})

const change = { access: 'PaymentRun.Write', resource: 'PaymentRun' } as const
const runs = arrayOf(PaymentRun)

export const paymentRunEndpoints = (database: Database): Endpoint[] => [
  ...looking(database),
  ...running,
]

const looking = (database: Database): Endpoint[] => [
  reading({
    operation: 'GET /PaymentRun',
    access: 'PaymentRun.Read',
    summary: 'List payment runs with their totals, exceptions and files.',
    query: RunQuery,
    data: runs,
    read: ({ query, actor }, handle) => readRuns(handle, actor, query),
  }),
  reading({
    operation: 'GET /PaymentRun/Payment',
    access: 'PaymentRun.Read',
    summary: 'List the payments of runs. Bank account numbers are masked.',
    query: PaymentQuery,
    data: arrayOf(Payment),
    read: ({ query, actor }, handle) => readPayments(handle, actor, query),
  }),
  downloading({
    operation: 'GET /PaymentRun/File',
    access: 'PaymentRun.Read',
    summary:
      'Download a file of an approved run. Also needs PaymentDetail.Read. Every download is ' +
      'recorded in the audit trail.',
    query: FileQuery,
    data: RunFile,
    download: ({ query, actor }) => downloadFile(database, actor, query),
  }),
]

const running: Endpoint[] = [
  writing({
    operation: 'POST /PaymentRun',
    event: 'paymentrun.created',
    summary: 'Create a draft run of everything that is payable, with one payment for each payee.',
    ...change,
    body: PaymentRunInput,
    data: runs,
    write: ({ body, actor }, tx) => createRun(tx, actor, body),
  }),
  writing({
    operation: 'POST /PaymentRun/Approve',
    event: 'paymentrun.approved',
    summary: 'Approve a run that somebody else made. This creates its files.',
    access: 'PaymentRun.Approve',
    resource: 'PaymentRun',
    body: RunKey,
    data: runs,
    write: ({ body, actor }, tx) => approveRun(tx, actor, body.paymentRunID),
    refuseApprover: ({ body, actor }, tx) => lockOthers(tx, actor, body.paymentRunID),
  }),
  writing({
    operation: 'POST /PaymentRun/Sent',
    event: 'paymentrun.sent',
    summary: 'Record that the bank has received the files of a run.',
    ...change,
    body: RunKey,
    data: runs,
    write: ({ body, actor }, tx) => sendRun(tx, actor, body.paymentRunID),
  }),
  writing({
    operation: 'POST /PaymentRun/Result',
    event: 'paymentrun.updated',
    summary: 'Record which payments were paid and which were returned.',
    ...change,
    body: RunResult,
    data: runs,
    write: ({ body, actor }, tx) => recordResults(tx, actor, body),
  }),
  writing({
    operation: 'POST /PaymentRun/Reissue',
    event: 'paymentrun.created',
    summary: 'Pay returned payments again in a new run, to the current bank details of the payees.',
    ...change,
    body: Reissue,
    data: runs,
    write: ({ body, actor }, tx) => reissue(tx, actor, body),
  }),
  writing({
    operation: 'POST /PaymentRun/Unclaimed',
    event: 'paymentrun.updated',
    summary: 'Mark returned payments that nobody has claimed as unclaimed.',
    ...change,
    body: Unclaimed,
    data: runs,
    write: ({ body, actor }, tx) => markUnclaimed(tx, actor, body),
  }),
  writing({
    operation: 'DELETE /PaymentRun',
    event: 'paymentrun.deleted',
    summary: 'Delete a draft. The amounts in it become payable again.',
    ...change,
    query: RunParameter,
    data: nothing,
    write: ({ query, actor }, tx) => deleteRun(tx, actor, query.PaymentRunID),
  }),
]

type File = { fileName: string; contentType: string; sha256: string; content: Buffer }

/** The file has account numbers in full, so each download leaves a record in the audit trail. */
async function downloadFile(
  database: Database,
  actor: Actor,
  { PaymentRunID: id, FileNumber: number = 1 }: Static<typeof FileQuery>,
): Promise<Download> {
  if (!actor.permissions.has('PaymentDetail.Read')) throw permissionMissing('PaymentDetail.Read')
  const run = await findRun(database, actor, id)
  if (run.state === 'Draft')
    throw conflict('wrong_state', 'The payment run is a draft; its files are made by Approve.')
  const [file] = await database.query<File>(sql`
    select f.file_name as "fileName", f.content_type as "contentType", f.sha256, f.content
    from payment_run_file f where ${ofRun(run, 'f')} and f.file_number = ${number}`)
  if (!file) throw notFound('not_found', `The run has no file ${number}.`, 'FileNumber')
  const { fileName, contentType, sha256, content } = file
  await recordDownload(database, actor, {
    operation: 'GET /PaymentRun/File',
    resource: 'PaymentRun',
    ids: [id],
    productID: run.productID,
    changes: { fileNumber: number, sha256 },
  })
  const size = content.length
  const record = { paymentRunID: id, fileNumber: number, fileName, contentType, size, sha256 }
  return { record, fileName, contentType, size, open: async () => Readable.from([content]) }
}
