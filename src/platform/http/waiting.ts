import { type Static, Type } from 'typebox'
import type { Access } from '../permission.ts'
import { optional, sensitive } from '../shape/fields.ts'
import type { Endpoint } from './endpoint.ts'

/**
 * Whether a write can wait for approval: it needs a permission, and is neither a decision on an
 * approval nor an upload.
 */
export const canWait = (endpoint: Endpoint): boolean =>
  permissionOf(endpoint).includes('.') &&
  (endpoint.kind === 'write' || endpoint.kind === 'shared') &&
  !endpoint.operation.includes('/Approval/')

/**
 * The permission of a waiting write; for an operation that all users may do for themselves, the
 * permission to do it for others.
 */
export const permissionOf = ({ access, ofOthers }: Endpoint): Access => ofOthers ?? access

/** The data of a 202 answer when an approval rule has kept a write instead of running it. */
export const KeptForApproval = Type.Object(
  {
    approvalID: Type.Integer({ minimum: 1 }),
    changes: Type.Unsafe<unknown>({
      description:
        'The request itself or the changes that it would make. Sensitive values are masked.',
    }),
    rule: Type.Unsafe<object>({ type: 'object', description: 'The approval rule that applies.' }),
    secret: optional(
      sensitive(
        Type.String({
          description:
            'The secret that the write will set once it is approved. It is shown only in this ' +
            'answer. Keep it safe.',
        }),
      ),
    ),
  },
  {
    $id: 'KeptForApproval',
    description: 'The request waits for approval. See GET /Approval.',
    example: {
      approvalID: 12,
      changes: { bsb: { from: '062-000', to: '083-004' } },
      rule: { approvalRuleID: 1, resource: 'PaymentDetail', requiredApprovals: 1 },
    },
  },
)
export type KeptForApproval = Static<typeof KeptForApproval>
