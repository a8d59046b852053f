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
    summary: 'Import a file of rows; it is done in the background.',
    description: `Rows become what the API itself would have done: Investors \`POST /BizEntity\`,
Prices \`POST /Investment/Price\`, Transactions the posting that the column \`operation\` names,
OpeningBalances an allotment that is the first of its holding, PaymentResults
\`POST /PaymentRun/Result\`. The permission of that operation is needed as well.`,
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
    summary: 'List imports: how far they are, and what became of them.',
    query: ImportQuery,
    data: arrayOf(Import),
    read: ({ query, actor }, handle) => readImports(handle, actor, query),
  }),
  downloading({
    operation: 'GET /Import/File',
    access: 'Import.Write',
    summary: 'Download the refused rows, with what is wrong with each, to mend and send again.',
    description: `Needs the permission of what is imported, too; of somebody else's investors, which
may have tax and bank numbers, also PaymentDetail.Read. Each download is audited.`,
    query: ImportFileQuery,
    data: ImportFile,
    download: ({ query, actor }) => handOutErrors(database, files, actor, query),
  }),
  downloading({
    operation: 'GET /Import/Template',
    access: 'Import.Write',
    summary: 'Download an empty file of a type: its columns, an example, and the lookups.',
    query: TemplateQuery,
    data: ImportFile,
    download: ({ query }) => templateOf(query.Type, query.Format ?? 'csv'),
  }),
  writing({
    operation: 'DELETE /Import',
    ...change,
    event: 'import.cancelled',
    name: 'cancelImport',
    summary: 'Cancel an import; of one that goes on, the rows that are in stay.',
    description: 'Needs the permission of what is imported, too.',
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
