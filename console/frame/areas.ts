import type { Permission } from '../shared/permission.ts'
import type { IconName } from '../shared/view/icons.tsx'

export type Area = {
  /** The address below the product's. */
  path: string
  label: string
  icon: IconName
  needs: Permission
  /** The second key after g. */
  key: string
}

/** The areas of a product, in the order of the menu. */
export const areas: Area[] = [
  { path: '', label: 'Overview', icon: 'overview', needs: 'Investment.Read', key: 'o' },
  { path: '/investors', label: 'Investors', icon: 'investors', needs: 'BizEntity.Read', key: 'i' },
  {
    path: '/transactions',
    label: 'Transactions',
    icon: 'transactions',
    needs: 'BizTransaction.Read',
    key: 't',
  },
  { path: '/notices', label: 'Notices', icon: 'notices', needs: 'BizEvent.Read', key: 'n' },
  {
    path: '/classes',
    label: 'Classes and prices',
    icon: 'classes',
    needs: 'Investment.Read',
    key: 'c',
  },
  {
    path: '/distributions',
    label: 'Distributions',
    icon: 'distributions',
    needs: 'Distribution.Read',
    key: 'd',
  },
  { path: '/payments', label: 'Payments', icon: 'payments', needs: 'PaymentRun.Read', key: 'y' },
  { path: '/holds', label: 'Holds', icon: 'lock', needs: 'Hold.Read', key: 'h' },
  { path: '/reports', label: 'Reports', icon: 'reports', needs: 'Report.Read', key: 'r' },
  { path: '/documents', label: 'Documents', icon: 'documents', needs: 'Document.Read', key: 'm' },
  { path: '/import', label: 'Import', icon: 'import', needs: 'Import.Write', key: 'f' },
]

/** What is not of one product. */
export const settings: Area[] = [
  {
    path: '/settings/products',
    label: 'Products',
    icon: 'settings',
    needs: 'Product.Read',
    key: 'p',
  },
  { path: '/settings/users', label: 'Users', icon: 'user', needs: 'User.Read', key: 'u' },
  { path: '/approvals', label: 'Approvals', icon: 'check', needs: 'Approval.Read', key: 'v' },
  {
    path: '/settings/approval-rules',
    label: 'Approval rules',
    icon: 'rule',
    needs: 'Approval.Read',
    key: 'e',
  },
  {
    path: '/settings/tax-rates',
    label: 'Tax rates',
    icon: 'percent',
    needs: 'Tax.Read',
    key: 'x',
  },
  {
    path: '/settings/webhooks',
    label: 'Webhooks',
    icon: 'webhook',
    needs: 'Webhook.Read',
    key: 'w',
  },
  { path: '/settings/audit', label: 'Audit trail', icon: 'clock', needs: 'Audit.Read', key: 'a' },
]

/** What one often sets out to do; the search offers it. */
export const actions: Omit<Area, 'key'>[] = [
  { path: '/investors/new', label: 'New investor', icon: 'plus', needs: 'BizEntity.Write' },
  {
    path: '/transactions/new',
    label: 'New transaction',
    icon: 'plus',
    needs: 'BizTransaction.Write',
  },
  {
    path: '/transactions/paste',
    label: 'Paste transactions',
    icon: 'plus',
    needs: 'BizTransaction.Write',
  },
  {
    path: '/distributions/new',
    label: 'New distribution',
    icon: 'plus',
    needs: 'Distribution.Write',
  },
  { path: '/import/new', label: 'Import a file', icon: 'import', needs: 'Import.Write' },
  { path: '/payments/new', label: 'New payment run', icon: 'plus', needs: 'PaymentRun.Write' },
]
