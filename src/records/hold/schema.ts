import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import {
  clearable,
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Id,
  LongId,
  optional,
  RegisterDate,
  requiredText,
  shown,
  text,
} from '../../platform/shape/fields.ts'

const Quantity = decimal({ above: '0' }, { description: 'The units that are held back.' })
const All = Type.Boolean({ description: 'All units there are are held back, whatever comes.' })
const Reason = requiredText(500, { description: 'Why units are held back.' })
const From = { ...RegisterDate, description: 'The first day; left out, today.' }
const To = { ...RegisterDate, description: 'The last day; left out, until further.' }

/** The account that a hold is on, and the investment where it is limited to one. */
const place = {
  productID: optional(Id),
  externalProductId: optional(ExternalId),
  accountID: optional(Id),
  externalAccountId: optional(ExternalId),
  investmentID: optional(Id),
  externalInvestmentId: optional(ExternalId),
  securityCode: optional(text(50)),
}

export const HoldInput = Type.Object(
  {
    ...place,
    quantity: optional(Quantity),
    all: optional(All),
    reason: Reason,
    documentID: optional(Id),
    validFrom: optional(From),
    validTo: optional(To),
  },
  {
    $id: 'HoldInput',
    description:
      'Units that may not leave an account: a quantity of one investment, or all of one or every.',
    example: { productID: 1, accountID: 2, investmentID: 3, quantity: 500, reason: 'Court order' },
  },
)
export const HoldUpdate = Type.Object(
  {
    holdID: LongId,
    ...place,
    quantity: optional(Quantity),
    all: optional(All),
    reason: optional(Reason),
    documentID: optional(clearable(Id)),
    validFrom: optional(From),
    validTo: optional(clearable(To)),
  },
  {
    $id: 'HoldUpdate',
    description: 'What is left out stays. A hold stays on its account and investment.',
    example: { holdID: 1, validTo: '2026-06-30' },
  },
)
export const Hold = shown(
  'Hold',
  {
    holdID: LongId,
    productID: Id,
    externalProductId: ExternalId,
    accountID: Id,
    externalAccountId: ExternalId,
    accountNumber: Type.String(),
    investmentID: Id,
    externalInvestmentId: ExternalId,
    securityCode: Type.String(),
    quantity: decimal(),
    all: All,
    reason: Reason,
    documentID: Id,
    validFrom: DateOnly,
    validTo: DateOnly,
    createdDate: DateTime,
    updatedDate: DateTime,
  },
  {
    holdID: 1,
    productID: 1,
    externalProductId: 'FUND',
    accountID: 2,
    externalAccountId: 'ACC-2',
    accountNumber: '1000002',
    investmentID: 3,
    externalInvestmentId: 'ORD',
    securityCode: 'ORD',
    quantity: 500,
    all: false,
    reason: 'Court order',
    documentID: null,
    validFrom: '2026-01-01',
    validTo: null,
    createdDate: '2026-01-01T00:00:00Z',
    updatedDate: null,
  },
)
export const HoldQuery = Type.Object({
  HoldID: optional(LongId),
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  AccountID: optional(Id),
  InvestmentID: optional(Id),
  ...paging,
})
export const HoldKey = Type.Object({ HoldID: LongId })

export type HoldInput = Static<typeof HoldInput>
export type HoldUpdate = Static<typeof HoldUpdate>
export type HoldQuery = Static<typeof HoldQuery>
export type HoldKey = Static<typeof HoldKey>
