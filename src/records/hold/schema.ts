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

const Quantity = decimal({ above: '0' }, { description: 'The number of units that are on hold.' })
const All = Type.Boolean({
  description: 'Whether all units are on hold, including those that are added later.',
})
const Reason = requiredText(500, { description: 'Why the units are on hold.' })
const From = { ...RegisterDate, description: 'The first day of the hold. If left out: today.' }
const To = { ...RegisterDate, description: 'The last day of the hold. If left out: no end.' }

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
      'Units that cannot leave an account: a quantity of one investment, or all units of one ' +
      'investment or of all investments.',
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
    description:
      'Fields that are left out keep their values. The account and the investment of a hold ' +
      'cannot be changed.',
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
