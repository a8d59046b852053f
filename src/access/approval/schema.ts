import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { resources } from '../../platform/permission.ts'
import {
  clearable,
  DateTime,
  decimal,
  Flag,
  Id,
  LongId,
  optional,
  requiredText,
  shown,
} from '../../platform/shape/fields.ts'

const Operation = requiredText(100)
const ResourceName = Type.Unsafe<string>({ type: 'string', enum: resources })
const Fields = Type.Array(requiredText(100), { minItems: 1, maxItems: 100 })
const Products = Type.Array(Id, { minItems: 1, maxItems: 1000 })
const Approvals = Type.Integer({ minimum: 1, maximum: 10 })

export const ApprovalRuleInput = Type.Object(
  {
    operation: optional(Operation),
    resource: optional(ResourceName),
    fields: optional(Fields),
    minimumAmount: optional(decimal({ minimum: '0' })),
    productIDs: optional(Products),
    requiredApprovals: optional(Approvals),
    isActive: optional(Flag),
  },
  {
    $id: 'ApprovalRuleInput',
    description:
      'Which requests need approval by other users: those for one operation, or all changes to ' +
      'one resource, whichever operation makes them. A rule can be limited to changes of ' +
      'certain fields, to amounts from a minimum, and to certain products.',
    example: { resource: 'PaymentDetail', requiredApprovals: 1, isActive: true },
  },
)
export const ApprovalRuleUpdate = Type.Object(
  {
    approvalRuleID: Id,
    fields: optional(clearable(Fields)),
    minimumAmount: optional(clearable(decimal({ minimum: '0' }))),
    productIDs: optional(clearable(Products)),
    requiredApprovals: optional(Approvals),
    isActive: optional(Flag),
  },
  { $id: 'ApprovalRuleUpdate', example: { approvalRuleID: 1, isActive: false } },
)
export const ApprovalRule = shown(
  'ApprovalRule',
  {
    approvalRuleID: Id,
    operation: Operation,
    resource: ResourceName,
    fields: Type.Union([Fields, Type.Null()]),
    minimumAmount: decimal(),
    productIDs: Type.Union([Products, Type.Null()]),
    requiredApprovals: Approvals,
    isActive: Flag,
    createdDate: DateTime,
  },
  {
    approvalRuleID: 1,
    operation: null,
    resource: 'PaymentDetail',
    fields: null,
    minimumAmount: null,
    productIDs: null,
    requiredApprovals: 1,
    isActive: true,
    createdDate: '2026-01-01T00:00:00Z',
  },
)
export const ApprovalRuleQuery = Type.Object({ ApprovalRuleID: optional(Id), ...paging })
export const ApprovalRuleKey = Type.Object({ ApprovalRuleID: Id })

const states = ['Pending', 'Approved', 'Rejected', 'Cancelled', 'Expired'] as const
const State = Type.Unsafe<string>({ type: 'string', enum: states })

export const Approval = shown(
  'Approval',
  {
    approvalID: LongId,
    state: State,
    operation: Operation,
    resource: Type.String(),
    productID: Id,
    userID: Id,
    username: Type.String(),
    approvalRuleID: Id,
    requiredApprovals: Approvals,
    approvals: Type.Array(
      Type.Object({
        userID: Id,
        username: Type.String(),
        decidedDate: DateTime,
        isCounted: Type.Boolean({
          description:
            'Whether this approval counts towards those that are needed. False while the user ' +
            'who gave it is not allowed to decide on the request; it counts again once they ' +
            'are. For a decided request: whether it counted.',
        }),
      }),
    ),
    changes: Type.Unsafe<unknown>({
      description:
        'The request itself or the changes that it would make. Sensitive values are masked.',
    }),
    createdDate: DateTime,
    expiresDate: DateTime,
    decidedDate: DateTime,
    reason: Type.String(),
    resourceIDs: Type.Array(LongId, {
      description:
        'The records that the request changes, or that it has created. Empty while a request to ' +
        'create records is waiting.',
    }),
  },
  {
    approvalID: 12,
    state: 'Pending',
    operation: 'PUT /PaymentDetail',
    resource: 'PaymentDetail',
    productID: null,
    userID: 2,
    username: 'ann',
    approvalRuleID: 1,
    requiredApprovals: 1,
    approvals: [],
    changes: { bsb: { from: '062-000', to: '083-004' } },
    createdDate: '2026-01-01T00:00:00Z',
    expiresDate: '2026-01-15T00:00:00Z',
    decidedDate: null,
    reason: null,
    resourceIDs: [34],
  },
)
export const ApprovalQuery = Type.Object({
  ApprovalID: optional(LongId),
  State: optional(State),
  UserID: optional({ ...Id, description: 'The user who made the request.' }),
  ToDecide: optional(
    Type.Boolean({
      description:
        'true: only requests that wait for you. These were made by somebody else, you have the ' +
        'permission for the operation, and either you have not approved them yet, or they have ' +
        'enough approvals and anybody who may decide can have them carried out. false: only the ' +
        'others.',
    }),
  ),
  ...paging,
})
export const ApprovalKey = Type.Object(
  { approvalID: LongId },
  { $id: 'ApprovalKey', example: { approvalID: 12 } },
)
export const Rejection = Type.Object(
  { approvalID: LongId, reason: requiredText(1000) },
  { $id: 'ApprovalRejection', example: { approvalID: 12, reason: 'Not the account on the form.' } },
)

export type ApprovalRuleInput = Static<typeof ApprovalRuleInput>
export type ApprovalRuleUpdate = Static<typeof ApprovalRuleUpdate>
export type ApprovalRuleQuery = Static<typeof ApprovalRuleQuery>
export type ApprovalRuleKey = Static<typeof ApprovalRuleKey>
export type ApprovalQuery = Static<typeof ApprovalQuery>
export type ApprovalKey = Static<typeof ApprovalKey>
export type Rejection = Static<typeof Rejection>
