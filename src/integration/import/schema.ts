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

const ImportTypeName = oneOf(importTypes, 'What the rows are.')
const FormatName = oneOf(formats, 'How the file is written; by its name where left out.')
const ModeName = oneOf(
  modes,
  'validate: everything is checked as if, nothing is written. atomic: all rows or none. ' +
    'continue: good rows go in, bad rows are listed.',
)

const MappedColumns = Type.Unsafe<Mapping>({
  type: 'array',
  maxItems: 500,
  description: 'Which field a column is, where its heading does not say so; as JSON in a form.',
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
    dateFormat: optional(oneOf(dateFormats, 'How dates are written in every row.')),
    encoding: optional(oneOf(encodings, 'Of csv and jsonl; a mark at the beginning is known.')),
    mapping: optional(MappedColumns),
    productID: optional({ ...Id, description: 'Only rows of this product are taken.' }),
    again: optional({ ...Flag, description: 'Take a file that was committed before.' }),
    documentID: optional(Id),
    fileName: optional(text(255)),
    content: optional(
      Type.String({
        description: 'The file in base64, where there is no documentID.',
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
  productIDs: Type.Array(Id, { description: 'Whose rows are taken; none here: all.' }),
  unknownColumns: Type.Array(Type.String(), {
    description:
      'Headings that are no field: what stands under them is not looked at. The first 100, and ' +
      'how many more there are.',
  }),
  rowsRead: Type.Integer(),
  rowsAccepted: Type.Integer(),
  rowsRefused: Type.Integer(),
  progressPercent: Type.Integer(),
  message: Type.String(),
  errorsSize: Type.Integer({ description: 'Of the file of refused rows, where there is one.' }),
  username: Type.String(),
  createdDate: DateTime,
  startedDate: DateTime,
  completedDate: DateTime,
})

export const ImportQuery = Type.Object({
  ImportID: optional(Id),
  Type: optional(ImportTypeName),
  Status: optional(oneOf(statuses, 'How far it is.')),
  ...paging,
})
export const ImportKey = Type.Object({ ImportID: Id })
export const ImportFileQuery = Type.Object({
  ImportID: Id,
  Result: oneOf(['errors'] as const, 'errors: the refused rows, with what is wrong with each.'),
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
