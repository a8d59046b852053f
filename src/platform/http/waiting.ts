import { type Static, Type } from 'typebox'
import type { Endpoint } from './endpoint.ts'

/** What can wait for approval: a write that needs a permission, but deciding itself and files. */
export const canWait = ({ access, kind, operation }: Endpoint): boolean =>
  access.includes('.') &&
  (kind === 'write' || kind === 'shared') &&
  !operation.includes('/Approval/')

/** The data of 202, where a rule of approval has kept a write instead of having it done. */
export const KeptForApproval = Type.Object(
  {
    approvalID: Type.Integer({ minimum: 1 }),
    changes: Type.Unsafe<unknown>({
      description: 'What was asked or would change, sensitive values blotted out.',
    }),
    rule: Type.Unsafe<object>({ type: 'object', description: 'The rule that holds it back.' }),
  },
  {
    $id: 'KeptForApproval',
    description: 'Kept until it is approved: see GET /Approval.',
    example: {
      approvalID: 12,
      changes: { bsb: { from: '062-000', to: '083-004' } },
      rule: { approvalRuleID: 1, resource: 'PaymentDetail', requiredApprovals: 1 },
    },
  },
)
export type KeptForApproval = Static<typeof KeptForApproval>
