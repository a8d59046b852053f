import {
  arrayOf,
  type Endpoint,
  nothing,
  reading,
  sharing,
  writing,
} from '../../platform/http/endpoint.ts'
import { type ApprovalDesk, approve, cancel, reject } from './decide.ts'
import {
  Approval,
  ApprovalKey,
  ApprovalQuery,
  ApprovalRule,
  ApprovalRuleInput,
  ApprovalRuleKey,
  ApprovalRuleQuery,
  ApprovalRuleUpdate,
  Rejection,
} from './schema.ts'
import { createRule, deleteRule, readApprovals, readRules, updateRule } from './sql.ts'

const ruling = { access: 'ApprovalRule.Write', resource: 'ApprovalRule' } as const
const deciding = {
  access: 'Approval.Write',
  resource: 'Approval',
  event: null,
  data: arrayOf(Approval),
} as const

export const approvalEndpoints = (desk: ApprovalDesk): Endpoint[] => [
  ...ruleEndpoints(desk),
  reading({
    operation: 'GET /Approval',
    access: 'Approval.Read',
    summary:
      'List requests that are or were waiting for approval, with the changes that they would make.',
    query: ApprovalQuery,
    data: arrayOf(Approval),
    read: ({ query, actor }, handle) => readApprovals(handle, actor, desk, query),
  }),
  sharing({
    ...deciding,
    operation: 'POST /Approval/Approve',
    summary:
      'Approve a request. The last approval needed checks the request again and carries it out.',
    body: ApprovalKey,
    failures: { 412: 'The records that the request would change have changed since it was made.' },
    through: ({ body, actor }, write) => approve(desk, actor, write, body),
    alone: () => Promise.reject(new Error('An approval does not wait for another.')),
  }),
  writing({
    ...deciding,
    operation: 'POST /Approval/Reject',
    summary: 'Reject a waiting request, with a reason.',
    body: Rejection,
    write: ({ body, actor }, tx) => reject(tx, desk, actor, body),
  }),
  writing({
    ...deciding,
    operation: 'POST /Approval/Cancel',
    summary: 'Cancel one of your own waiting requests.',
    body: ApprovalKey,
    write: ({ body, actor }, tx) => cancel(tx, desk, actor, body),
  }),
]

const ruleEndpoints = ({ writes }: ApprovalDesk): Endpoint[] => [
  reading({
    operation: 'GET /ApprovalRule',
    access: 'ApprovalRule.Write',
    summary: 'List the rules that decide which requests need approval.',
    query: ApprovalRuleQuery,
    data: arrayOf(ApprovalRule),
    etag: { by: ['ApprovalRuleID'] },
    read: ({ query, actor }, handle) => readRules(handle, actor, query),
  }),
  writing({
    ...ruling,
    operation: 'POST /ApprovalRule',
    summary:
      'Create a rule: requests for one operation, or changes to one resource, then need approval.',
    body: ApprovalRuleInput,
    data: arrayOf(ApprovalRule),
    write: ({ body, actor }, tx) => createRule(tx, actor, writes(), body),
  }),
  writing({
    ...ruling,
    operation: 'PUT /ApprovalRule',
    summary: 'Change a rule. Fields that are left out keep their values.',
    body: ApprovalRuleUpdate,
    data: arrayOf(ApprovalRule),
    write: ({ body, actor }, tx) => updateRule(tx, actor, writes(), body),
  }),
  writing({
    ...ruling,
    operation: 'DELETE /ApprovalRule',
    summary: 'Delete a rule. Requests that are already waiting go on waiting.',
    query: ApprovalRuleKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteRule(tx, actor, query),
  }),
]
