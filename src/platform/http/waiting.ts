import { type Static, Type } from 'typebox'
import type { Access } from '../permission.ts'
import type { Endpoint } from './endpoint.ts'

/** What can wait for approval: a write that needs a permission, but deciding itself and files. */
export const canWait = (endpoint: Endpoint): boolean =>
  permissionOf(endpoint).includes('.') &&
  (endpoint.kind === 'write' || endpoint.kind === 'shared') &&
  !endpoint.operation.includes('/Approval/')

/** The permission of a write that waits; of what all do for themselves, that for others. */
export const permissionOf = ({ access, ofOthers }: Endpoint): Access => ofOthers ?? access

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
