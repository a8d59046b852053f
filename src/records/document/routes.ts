import { inPasswordSlot } from '../../access/password/hash.ts'
import type { Actor } from '../../platform/actor.ts'
import type { Files } from '../../platform/files/files.ts'
import {
  arrayOf,
  downloading,
  type Endpoint,
  nothing,
  reading,
  uploading,
  writing,
} from '../../platform/http/endpoint.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { addFile, downloadFile, replaceFile } from './file.ts'
import { findWritable, inBody } from './find.ts'
import { createDocument, deleteDocument, updateDocument } from './save.ts'
import {
  Document,
  DocumentInput,
  DocumentKey,
  DocumentListQuery,
  DocumentUpdate,
  documentParameter,
  FileContent,
  FileInput,
  FileQuery,
  ListedDocument,
  StoredFile,
} from './schema.ts'
import { listDocuments, readDocument } from './sql.ts'

const change = { access: 'Document.Write', resource: 'Document' } as const
const openToAll = { access: 'public', recognises: true } as const
const whoMayRead =
  'A public document can be read by anybody. Any other needs a token and the permission ' +
  '`Document.Read`.'

/** Writes that hash a password wait for a password slot; other writes do not need one. */
const inTurn = <T>(work: () => Promise<T>, whose: { body: unknown; caller: string }) =>
  (whose.body as { password?: string }).password ? inPasswordSlot(work, whose) : work()

export const documentEndpoints = (
  database: Database,
  files: Files,
  nameKey: Buffer,
): Endpoint[] => [
  reading({
    operation: 'GET /Document',
    ...openToAll,
    summary: 'Read a document, without its file.',
    description: whoMayRead,
    query: DocumentKey,
    data: Document,
    etag: { by: documentParameter.fields },
    read: ({ query, actor }, handle) => readDocument(handle, actor as Actor | null, query),
  }),
  reading({
    operation: 'GET /Document/List',
    access: 'Document.Read',
    summary: 'List documents, without their files: all, or those of an owner, type or period.',
    query: DocumentListQuery,
    data: arrayOf(ListedDocument),
    read: ({ query, actor }, handle) => listDocuments(handle, actor, query),
  }),
  writing({
    operation: 'POST /Document',
    ...change,
    summary: 'Create a document. Its file is uploaded separately.',
    body: DocumentInput,
    data: Document,
    inTurn,
    write: ({ body, actor }, tx) => createDocument(tx, actor, body),
  }),
  writing({
    operation: 'PUT /Document',
    ...change,
    summary: 'Replace a document. Its file is kept; so is its password, unless one is given.',
    body: DocumentUpdate,
    data: arrayOf(Document),
    inTurn,
    write: ({ body, actor }, tx) => updateDocument(tx, actor, body),
  }),
  writing({
    operation: 'DELETE /Document',
    ...change,
    summary: 'Delete a document and its file.',
    query: DocumentKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteDocument(tx, actor, query),
  }),
  uploading({
    operation: 'POST /Document/File',
    event: 'document.updated',
    ...change,
    summary: 'Upload the file of a document.',
    body: FileInput,
    data: StoredFile,
    upload: files,
    check: ({ body, actor }, handle) => findWritable(handle, actor, inBody, body),
    write: ({ body, actor }, tx) => addFile(tx, actor, body),
  }),
  downloading({
    operation: 'GET /Document/File',
    ...openToAll,
    anyVersion: true,
    summary: 'Download the file of a document.',
    description: `${whoMayRead} A password goes in the header \`X-Document-Password\`.`,
    query: FileQuery,
    data: FileContent,
    download: (request) =>
      downloadFile(database, { transaction: database.transaction, files, nameKey }, request),
  }),
  uploading({
    operation: 'PUT /Document/File',
    event: 'document.updated',
    ...change,
    summary: 'Replace the file of a document.',
    body: FileInput,
    data: StoredFile,
    upload: files,
    check: ({ body, actor }, handle) => findWritable(handle, actor, inBody, body),
    write: ({ body, actor }, tx) => replaceFile(tx, actor, body),
  }),
]
