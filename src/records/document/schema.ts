import { type Static, Type } from 'typebox'
import { rawParameter } from '../../platform/http/download.ts'
import { paging } from '../../platform/http/paging.ts'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import {
  DateTime,
  ExternalId,
  Flag,
  Id,
  optional,
  sensitive,
  shown,
  text,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { dateTimeFilter, filterParameters, lookupFilter } from '../../platform/sql/filters.ts'
import { reference } from '../../platform/sql/identify.ts'

const owners = {
  productID: optional(Id),
  externalProductId: optional(ExternalId),
  bizEntityID: optional(Id),
  externalBizEntityId: optional(ExternalId),
  organisationID: optional(Id),
  externalOrganisationId: optional(ExternalId),
}

const belongs: Check = (value) => {
  const given = value as Record<string, unknown>
  return Object.keys(owners).some((field) => given?.[field] !== undefined)
    ? []
    : [
        {
          field: 'bizEntityID',
          code: 'required',
          words: 'is required, or organisationID or productID, or one of their external forms',
        },
      ]
}

const fields = {
  externalDocumentId: optional(ExternalId),
  documentTypeID: lookupID('DocumentType'),
  name: optional(text(255)),
  code: optional(text(100)),
  description: optional(text(2000)),
  password: optional(
    sensitive(
      text(256, {
        description:
          'The password that protects the file. It is never shown. On PUT: if left out, the ' +
          'password is kept; an empty text removes it.',
      }),
    ),
  ),
  ordinal: optional(Type.Integer({ minimum: -32_768, maximum: 32_767 })),
  ...owners,
  showInDocumentsInPortal: optional(Flag),
  isPublic: optional(Flag),
}

const example = {
  externalDocumentId: 'PDS-2026',
  documentTypeID: 6,
  name: 'Product disclosure statement',
  productID: 1,
  isPublic: true,
}
export const DocumentInput = Type.Object(fields, {
  $id: 'DocumentInput',
  check: belongs,
  example,
})
export const DocumentUpdate = Type.Object(
  { documentID: optional(Id), ...fields },
  { $id: 'DocumentUpdate', check: belongs, example: { documentID: 1, ...example } },
)
const shownFields = {
  documentID: Id,
  ...fields,
  hasPassword: Flag,
  fileName: Type.String(),
  contentType: Type.String(),
  fileSize: Type.Integer(),
  createdDate: DateTime,
  updatedDate: DateTime,
}
export const Document = shown('Document', shownFields)
/**
 * A document of a list, with the names of its owners: a list holds only documents whose owners the
 * caller may see.
 */
export const ListedDocument = shown('ListedDocument', {
  ...shownFields,
  bizEntityName: Type.String(),
  organisationName: Type.String(),
})

const {
  password: _hashed,
  externalProductId: _product,
  externalBizEntityId: _entity,
  externalOrganisationId: _organisation,
  ...own
} = fields
/** The fields of a document that its table holds, except the password hash and the file. */
export const DocumentRecord = Type.Object({ documentID: Id, ...own })

/** Identifies a document by its own id; the owner ids, where given, must match as well. */
export const DocumentKey = Type.Object({
  DocumentID: optional(Id),
  ExternalDocumentId: optional(ExternalId),
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  BizEntityID: optional(Id),
  ExternalBizEntityId: optional(ExternalId),
  OrganisationID: optional(Id),
  ExternalOrganisationId: optional(ExternalId),
})
export const documentFilters = {
  DocumentTypeID: lookupFilter('d.document_type_id', lookups.DocumentType),
  CreatedDate: dateTimeFilter('d.created_date'),
  UpdatedDate: dateTimeFilter('d.updated_date'),
}
export const DocumentListQuery = Type.Object({
  ...DocumentKey.properties,
  ...filterParameters(documentFilters),
  ...paging,
})
export const FileQuery = Type.Object({ ...DocumentKey.properties, ...rawParameter })

export const FileInput = Type.Object(
  {
    documentID: optional(Id),
    externalDocumentId: optional(ExternalId),
    ...owners,
    fileName: optional(text(255)),
    contentType: optional(text(255)),
    content: Type.String({ description: 'The file in base64.', contentEncoding: 'base64' }),
  },
  {
    $id: 'FileInput',
    example: {
      documentID: 1,
      fileName: 'statement.txt',
      contentType: 'text/plain',
      content: 'SGVsbG8=',
    },
  },
)
export const StoredFile = Type.Object(
  {
    documentID: Id,
    fileName: Type.String(),
    contentType: Type.String(),
    size: Type.Integer(),
    sha256: Type.String(),
  },
  { $id: 'StoredFile' },
)
export const FileContent = Type.Object(
  { ...StoredFile.properties, content: FileInput.properties.content },
  { $id: 'FileContent' },
)

export type DocumentInput = Static<typeof DocumentInput>
export type DocumentUpdate = Static<typeof DocumentUpdate>
export type DocumentKey = Static<typeof DocumentKey>
export type DocumentListQuery = Static<typeof DocumentListQuery>
export type FileQuery = Static<typeof FileQuery>
export type FileInput = Omit<Static<typeof FileInput>, 'content'>

const document = {
  what: 'document',
  table: 'document',
  columns: ['document_id', 'external_document_id'],
} as const
export const documentReference = reference(document, ['documentID', 'externalDocumentId'])
export const documentParameter = reference(document, ['DocumentID', 'ExternalDocumentId'])
