import { type Static, Type } from 'typebox'
import { rawParameter } from '../../platform/http/download.ts'
import { paging } from '../../platform/http/paging.ts'
import {
  DateTime,
  Flag,
  Id,
  optional,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'

export const importTypes = [
  'Investors',
  'Prices',
  'Transactions',
  'OpeningBalances',
  'PaymentResults',
] as const
export const formats = ['csv', 'xlsx', 'jsonl'] as const
export const modes = ['validate', 'atomic', 'continue'] as const
const statuses = ['Queued', 'Running', 'Completed', 'Failed', 'Cancelled'] as const
export const dateFormats = ['YYYY-MM-DD', 'DD/MM/YYYY'] as const
export const encodings = ['UTF-8', 'Windows-1252'] as const

export type ImportType = (typeof importTypes)[number]
export type Format = (typeof formats)[number]
export type Mode = (typeof modes)[number]
export type DateFormat = (typeof dateFormats)[number]
export type Encoding = (typeof encodings)[number]
/** The field for a column heading; a column without a field is ignored. */
export type Mapping = { column: string; field?: string }[]

/** A schema for one of several words, in any letter case. */
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({
    type: 'string',
    enum: values,
    description,
    conformed: (given: unknown) =>
      values.find((value) => value.toLowerCase() === String(given).toLowerCase()) ?? given,
  })

const ImportTypeName = oneOf(importTypes, 'What the rows contain.')
const FormatName = oneOf(
  formats,
  'The format of the file. If left out, it is taken from the file name.',
)
const ModeName = oneOf(
  modes,
  'validate: checks all rows as if they were imported, and writes nothing. atomic: imports all ' +
    'rows or none. continue: imports the good rows and lists the bad rows.',
)

const MappedColumns = Type.Unsafe<Mapping>({
  type: 'array',
  maxItems: 500,
  description:
    'The field that each column is for, if its heading is not the name of the field. In a form: ' +
    'as JSON.',
  items: Type.Object({ column: requiredText(200), field: optional(text(200)) }),
  // A form can only send texts, so the value is JSON.
  conformed: (given: unknown) => {
    if (typeof given !== 'string') return given
    try {
      return JSON.parse(given) as unknown
    } catch {
      return given
    }
  },
})

export const ImportInput = Type.Object(
  {
    type: ImportTypeName,
    mode: ModeName,
    format: optional(FormatName),
    dateFormat: optional(oneOf(dateFormats, 'The format of the dates in the file.')),
    encoding: optional(
      oneOf(
        encodings,
        'The encoding of csv and jsonl files. A UTF-8 byte order mark at the start of the file ' +
          'takes precedence.',
      ),
    ),
    mapping: optional(MappedColumns),
    productID: optional({ ...Id, description: 'Only rows of this product are accepted.' }),
    again: optional({ ...Flag, description: 'Imports a file again that was already imported.' }),
    documentID: optional(Id),
    fileName: optional(text(255)),
    content: optional(
      Type.String({
        description: 'The file in base64, if there is no documentID.',
        contentEncoding: 'base64',
      }),
    ),
  },
  {
    $id: 'ImportInput',
    example: {
      type: 'Transactions',
      mode: 'validate',
      fileName: 'june.csv',
      content: Buffer.from(
        'operation,accountID,securityCode,productID,transactionDate,amount\n' +
          'Deposit,1,GRA,1,2026-06-30,100\n',
      ).toString('base64'),
    },
  },
)

export const Import = shown('Import', {
  importID: Id,
  type: Type.String({ enum: importTypes }),
  format: Type.String({ enum: formats }),
  mode: Type.String({ enum: modes }),
  status: Type.String({ enum: statuses }),
  fileName: Type.String(),
  fileSize: Type.Integer(),
  documentID: Id,
  productIDs: Type.Array(Id, {
    description: 'The products whose rows are accepted; empty: all products.',
  }),
  unknownColumns: Type.Array(Type.String(), {
    description:
      'Headings that do not match a field; their columns are ignored. The first 100, followed ' +
      'by the number of further ones.',
  }),
  rowsRead: Type.Integer(),
  rowsAccepted: Type.Integer(),
  rowsRefused: Type.Integer(),
  progressPercent: Type.Integer(),
  message: Type.String(),
  errorsSize: Type.Integer({
    description: 'The size of the file of refused rows in bytes; null if there is none.',
  }),
  username: Type.String(),
  createdDate: DateTime,
  startedDate: DateTime,
  completedDate: DateTime,
})

export const ImportQuery = Type.Object({
  ImportID: optional(Id),
  Type: optional(ImportTypeName),
  Status: optional(oneOf(statuses, 'The status of the import.')),
  ...paging,
})
export const ImportKey = Type.Object({ ImportID: Id })
export const ImportFileQuery = Type.Object({
  ImportID: Id,
  Result: oneOf(['errors'] as const, 'errors: the refused rows with the errors of each.'),
  ...rawParameter,
})
export const TemplateQuery = Type.Object({
  Type: ImportTypeName,
  Format: optional(oneOf(formats, 'csv where left out.')),
  ...rawParameter,
})
export const ImportFile = Type.Object(
  {
    importID: optional(Id),
    fileName: Type.String(),
    contentType: Type.String(),
    size: Type.Integer(),
    content: Type.String({ description: 'The file in base64.', contentEncoding: 'base64' }),
  },
  { $id: 'ImportFile' },
)

export type ImportInput = Omit<Static<typeof ImportInput>, 'content'>
export type ImportQuery = Static<typeof ImportQuery>
export type ImportKey = Static<typeof ImportKey>
export type ImportFileQuery = Static<typeof ImportFileQuery>
export type TemplateQuery = Static<typeof TemplateQuery>
