import type { Permission } from '../shared/permission.ts'

/** What people call the records of the API. */
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

/** The records whose changes can wait. */
export const resourceOptions = Object.entries(names).map(([value, label]) => ({ value, label }))

/** Who decides needs the permission of the operation itself. */
export const permissionFor = (operation: string, resource: string): Permission =>
  operation === 'POST /PaymentRun/Approve'
    ? 'PaymentRun.Approve'
    : (`${resource}.Write` as Permission) // every other write needs its resource's; tested
