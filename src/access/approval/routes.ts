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
    summary: 'List writes that wait or waited for approval, with what they would change.',
    query: ApprovalQuery,
    data: arrayOf(Approval),
    read: ({ query, actor }, handle) => readApprovals(handle, actor, desk, query),
  }),
  sharing({
    ...deciding,
    operation: 'POST /Approval/Approve',
    summary: 'Approve; with the last approval needed the write is checked again and done.',
    body: ApprovalKey,
    failures: { 412: 'What it would change has changed since it was asked for.' },
    through: ({ body, actor }, write) => approve(desk, actor, write, body),
    alone: () => Promise.reject(new Error('An approval does not wait for another.')),
  }),
  writing({
    ...deciding,
    operation: 'POST /Approval/Reject',
    summary: 'Reject a write that waits, with a reason.',
    body: Rejection,
    write: ({ body, actor }, tx) => reject(tx, desk, actor, body),
  }),
  writing({
    ...deciding,
    operation: 'POST /Approval/Cancel',
    summary: 'Cancel a write of your own that waits.',
    body: ApprovalKey,
    write: ({ body, actor }, tx) => cancel(tx, desk, actor, body),
  }),
]

const ruleEndpoints = ({ writes }: ApprovalDesk): Endpoint[] => [
  reading({
    operation: 'GET /ApprovalRule',
    access: 'ApprovalRule.Write',
    summary: 'Read the rules by which writes wait for approval.',
    query: ApprovalRuleQuery,
    data: arrayOf(ApprovalRule),
    etag: { by: ['ApprovalRuleID'] },
    read: ({ query, actor }, handle) => readRules(handle, actor, query),
  }),
  writing({
    ...ruling,
    operation: 'POST /ApprovalRule',
    summary: 'Let writes of an operation or a resource wait for approval.',
    body: ApprovalRuleInput,
    data: arrayOf(ApprovalRule),
    write: ({ body, actor }, tx) => createRule(tx, actor, writes(), body),
  }),
  writing({
    ...ruling,
    operation: 'PUT /ApprovalRule',
    summary: 'Change a rule; what is left out stays.',
    body: ApprovalRuleUpdate,
    data: arrayOf(ApprovalRule),
    write: ({ body, actor }, tx) => updateRule(tx, actor, writes(), body),
  }),
  writing({
    ...ruling,
    operation: 'DELETE /ApprovalRule',
    summary: 'Remove a rule; what waits goes on waiting.',
    query: ApprovalRuleKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteRule(tx, actor, query),
  }),
]
