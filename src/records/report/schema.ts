import { type Static, Type } from 'typebox'
import { rawParameter } from '../../platform/http/download.ts'
import { paging } from '../../platform/http/paging.ts'
import { lookupID } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  DateTime,
  ExternalId,
  Flag,
  Id,
  optional,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'

export const tableFormats = ['csv', 'xlsx', 'pdf', 'json'] as const
export type TableFormat = (typeof tableFormats)[number]
/** The investor statements of many investors come as a zip, with a PDF for each account. */
const formats = [...tableFormats, 'zip'] as const
export type Format = (typeof formats)[number]

const Format = Type.Unsafe<Format>({
  type: 'string',
  enum: formats,
  conformed: (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value),
})
const Top = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'The number of holders in a Top holders report.',
})

const ids = {
  productID: optional(Id),
  externalProductId: optional(ExternalId),
  investmentID: optional(Id),
  externalInvestmentId: optional(ExternalId),
  securityCode: optional(requiredText(50)),
  corporateActionID: optional(Id),
  externalCorporateActionId: optional(ExternalId),
  bizEntityID: optional(Id),
  externalBizEntityId: optional(ExternalId),
  accountID: optional(Id),
  externalAccountId: optional(ExternalId),
}
const period = {
  date: optional(DateOnly),
  fromDate: optional(DateOnly),
  toDate: optional(DateOnly),
  top: optional(Top),
}
const knownAtWords =
  'The report shows the data as known at this moment. If none was given, the answer has the ' +
  'moment of the data that the report was made from.'

export const ReportInput = Type.Object(
  {
    reportTypeID: lookupID('ReportType'),
    name: optional(requiredText(200)),
    format: optional(Format),
    ...ids,
    ...period,
    knownAt: optional(Type.String({ format: 'date-time', description: knownAtWords })),
  },
  {
    $id: 'ReportInput',
    example: { reportTypeID: 1, format: 'pdf', productID: 1, date: '2026-06-30' },
  },
)

export const Report = shown('Report', {
  reportID: Id,
  reportTypeID: lookupID('ReportType'),
  reportStatusID: lookupID('ReportStatus'),
  name: text(200),
  format: Type.String(),
  productID: Id,
  externalProductId: ExternalId,
  investmentID: Id,
  corporateActionID: Id,
  bizEntityID: Id,
  accountID: Id,
  ...period,
  knownAt: Type.String({ description: knownAtWords }),
  progressPercent: Type.Integer(),
  rowCount: Type.Integer(),
  errorMessage: Type.String(),
  fileSize: Type.Integer(),
  username: Type.String(),
  createdDate: DateTime,
  startedDate: DateTime,
  completedDate: DateTime,
})

export const ReportQuery = Type.Object({
  ReportID: optional(Id),
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  ReportTypeID: optional(lookupID('ReportType')),
  ReportStatusID: optional(lookupID('ReportStatus')),
  FailedDeliveries: optional(
    Type.Boolean({
      description:
        'true: only reports with a statement that was to be e-mailed and did not arrive. false: ' +
        'only the others.',
    }),
  ),
  ...paging,
})
export const ReportKey = Type.Object({ ReportID: Id })
export const ReportFileQuery = Type.Object({ ReportID: Id, ...rawParameter })

export const ReportFile = Type.Object(
  {
    reportID: Id,
    fileName: Type.String(),
    contentType: Type.String(),
    size: Type.Integer(),
    sha256: Type.String(),
    content: Type.String({ description: 'The file in base64.', contentEncoding: 'base64' }),
  },
  { $id: 'ReportFile' },
)

export const ReportSend = Type.Object(
  {
    reportID: Id,
    again: optional({
      ...Flag,
      description: 'Also sends statements that were already sent or whose sending failed.',
    }),
  },
  { $id: 'ReportSend', example: { reportID: 1 } },
)
export const ReportSent = Type.Object(
  {
    reportID: Id,
    queued: Type.Integer({ description: 'The number of statements that will be sent by e-mail.' }),
    print: Type.Integer({
      description:
        'The number of statements to print because their holders want paper, alone or in ' +
        'addition to the e-mail.',
    }),
    noAddress: Type.Integer({
      description: 'The number of statements whose holders have no e-mail address.',
    }),
  },
  { $id: 'ReportSent' },
)
const DeliveryState = Type.String({
  enum: ['Made', 'Queued', 'Sending', 'Sent', 'Failed', 'Print', 'NoAddress'],
  description: 'Made: not sent yet. Print and NoAddress: to be sent on paper.',
})
export const Delivery = shown('StatementDelivery', {
  accountID: Id,
  reportID: Id,
  accountNumber: Type.String(),
  name: Type.String(),
  fileName: Type.String(),
  email: Type.String(),
  alsoPrint: Type.Boolean({
    description: 'Whether the holder wants paper in addition to the e-mail.',
  }),
  state: DeliveryState,
  reason: Type.String({ description: 'Why the delivery failed or was withdrawn.' }),
  stateDate: DateTime,
})
export const DeliveryQuery = Type.Object({
  ReportID: Id,
  State: optional(DeliveryState),
  AlsoPrint: optional(Type.Boolean()),
  ...paging,
})

export type ReportSend = Static<typeof ReportSend>
export type DeliveryQuery = Static<typeof DeliveryQuery>
export type ReportInput = Static<typeof ReportInput>
export type ReportQuery = Static<typeof ReportQuery>
export type ReportKey = Static<typeof ReportKey>
