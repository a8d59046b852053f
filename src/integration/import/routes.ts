import type { Actor } from '../../platform/actor.ts'
import type { Files } from '../../platform/files/files.ts'
import type { Download } from '../../platform/http/download.ts'
import {
  arrayOf,
  downloading,
  type Endpoint,
  nothing,
  reading,
  uploading,
  writing,
} from '../../platform/http/endpoint.ts'
import type { FileDoor } from '../../platform/http/upload.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { recordDownload } from '../../platform/sql/unit-of-work.ts'
import { createImport } from './create.ts'
import { downloadErrors } from './download.ts'
import { refuseUnpermitted } from './kinds.ts'
import {
  Import,
  ImportFile,
  ImportFileQuery,
  ImportInput,
  ImportKey,
  ImportQuery,
  TemplateQuery,
} from './schema.ts'
import { cancelImport, readImports } from './sql.ts'
import { templateOf } from './template.ts'

const change = { access: 'Import.Write', resource: 'Import' } as const

/** Ignores the browser's content type, which differs between machines: the request has a format. */
const doorFor = (files: Files): FileDoor => ({
  ...files,
  keep: (file, { fileName }, refer) => files.keep(file, fileName ? { fileName } : {}, refer),
})

export const importEndpoints = (database: Database, files: Files): Endpoint[] => [
  uploading({
    operation: 'POST /Import',
    ...change,
    name: 'createImport',
    summary: 'Import a file of rows. The import runs in the background.',
    description: `Each row is processed like a request of the API: Investors like
\`POST /BizEntity\`, Prices like \`POST /Investment/Price\`, Transactions like the posting named in
the column \`operation\`, OpeningBalances like an allotment that must be the first transaction of
its holding, and PaymentResults like \`POST /PaymentRun/Result\`. Also needs the permission for
that operation.`,
    body: ImportInput,
    data: Import,
    accepted: Import,
    upload: doorFor(files),
    check: async ({ body, actor }) => refuseUnpermitted(actor, body),
    write: ({ body, actor }, tx) => createImport(tx, actor, body),
  }),
  reading({
    operation: 'GET /Import',
    access: 'Import.Write',
    summary: 'List imports, with their progress and results.',
    query: ImportQuery,
    data: arrayOf(Import),
    read: ({ query, actor }, handle) => readImports(handle, actor, query),
  }),
  downloading({
    operation: 'GET /Import/File',
    access: 'Import.Write',
    summary:
      'Download the refused rows with the errors of each, so that they can be corrected and ' +
      'sent again.',
    description:
      'Also needs the permission for what is imported. If somebody else imported investors, ' +
      'whose rows may contain tax and bank numbers, it needs PaymentDetail.Read as well. Every ' +
      'download is recorded in the audit trail.',
    query: ImportFileQuery,
    data: ImportFile,
    download: ({ query, actor }) => handOutErrors(database, files, actor, query),
  }),
  downloading({
    operation: 'GET /Import/Template',
    access: 'Import.Write',
    summary:
      'Download a template for a type of import, with its columns, an example and the lookup ' +
      'values.',
    query: TemplateQuery,
    data: ImportFile,
    download: ({ query }) => templateOf(query.Type, query.Format ?? 'csv'),
  }),
  writing({
    operation: 'DELETE /Import',
    ...change,
    event: 'import.cancelled',
    name: 'cancelImport',
    summary:
      'Cancel an import. An import with mode `continue` keeps the rows that were already imported.',
    description: 'Also needs the permission for what is imported.',
    query: ImportKey,
    data: nothing,
    write: ({ query, actor }, tx) => cancelImport(tx, actor, query),
  }),
]

/** Writes an audit record of each download, as for the files of payment runs. */
async function handOutErrors(
  database: Database,
  files: Files,
  actor: Actor,
  key: ImportKey,
): Promise<Download> {
  const { productID, ...download } = await downloadErrors(database, files, actor, key)
  await recordDownload(database, actor, {
    operation: 'GET /Import/File',
    resource: 'Import',
    ids: [key.ImportID],
    productID,
    changes: { result: 'errors' },
  })
  return download
}
