import type { Approval } from '../shared/api/types.ts'
import type { Permission } from '../shared/permission.ts'

/** The names that people use for the resources of the API. */
const names: Record<string, string> = {
  BizEntity: 'Investors',
  Person: 'Persons',
  Organisation: 'Organisations',
  Address: 'Addresses',
  Communication: 'Contacts',
  PaymentDetail: 'Bank details',
  Product: 'Products',
  Investment: 'Classes and prices',
  Distribution: 'Distributions',
  BizEvent: 'Notices',
  BizTransaction: 'Transactions',
  Document: 'Documents',
  Report: 'Reports',
  User: 'Users',
  Tax: 'Tax rates',
  PaymentRun: 'Payment runs',
  Webhook: 'Webhooks',
  Hold: 'Holds',
  Import: 'Imports',
  ApprovalRule: 'Approval rules',
}

export const resourceName = (resource: string | null) => names[resource ?? ''] ?? resource ?? ''

/** The resources whose changes can require approval. */
export const resourceOptions = Object.entries(names).map(([value, label]) => ({ value, label }))

/** The permission that a decision needs: the same as the operation itself. */
export const permissionFor = (operation: string, resource: string): Permission =>
  operation === 'POST /PaymentRun/Approve'
    ? 'PaymentRun.Approve'
    : (`${resource}.Write` as Permission) // a test checks this for every other write

/** The approvals that count; those of users who may not decide any more do not. */
export const countedOf = ({ approvals }: Approval) => approvals.filter(({ isCounted }) => isCounted)

const namesOf = (approvals: Approval['approvals']) =>
  approvals.map(({ username }) => username).join(', ')

/** "ann, bob (2 of 3)", followed by users whose approvals have lapsed. */
export function approvedBy(approval: Approval): string {
  const counted = countedOf(approval)
  const lapsed = approval.approvals.filter(({ isCounted }) => !isCounted)
  const number = `${counted.length} of ${approval.requiredApprovals}`
  const why = approval.state === 'Pending' ? 'may not decide any more' : 'could not decide any more'
  const rest = lapsed.length > 0 ? `; ${namesOf(lapsed)} ${why}` : ''
  return `${namesOf(counted) || 'nobody'} (${number})${rest}`
}
