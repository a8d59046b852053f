import type { Needed } from '../shared/permission.ts'

/** Every page by its path, with the permissions it needs; null needs only a signed-in user. */
export const pages = {
  '/': null,
  '/approvals': 'Approval.Read',
  '/settings/account': null,
  '/settings/approval-rules': 'ApprovalRule.Write',
  '/settings/audit': 'Audit.Read',
  '/settings/products': 'Product.Read',
  '/settings/tax-rates': 'Tax.Read',
  '/settings/users': 'User.Read',
  '/settings/webhooks': 'Webhook.Read',
  '/$product': 'Investment.Read',
  '/$product/classes': 'Investment.Read',
  '/$product/classes/$id': 'Investment.Read',
  '/$product/distributions': 'Distribution.Read',
  '/$product/distributions/$id': 'Distribution.Read',
  '/$product/distributions/new': 'Distribution.Write',
  '/$product/documents': 'Document.Read',
  '/$product/holds': 'Hold.Read',
  '/$product/import': 'Import.Write',
  '/$product/import/$id': 'Import.Write',
  '/$product/import/new': 'Import.Write',
  '/$product/investors': 'BizEntity.Read',
  '/$product/investors/$id': 'BizEntity.Read',
  '/$product/investors/$id/edit': ['BizEntity.Write', 'BizEntity.Read'],
  '/$product/investors/new': 'BizEntity.Write',
  '/$product/notices': 'BizEvent.Read',
  '/$product/payments': 'PaymentRun.Read',
  '/$product/payments/$id': 'PaymentRun.Read',
  '/$product/payments/new': 'PaymentRun.Write',
  '/$product/reports': 'Report.Read',
  '/$product/transactions': 'BizTransaction.Read',
  '/$product/transactions/new': ['BizTransaction.Write', 'BizEntity.Read'],
  '/$product/transactions/paste': ['BizTransaction.Write', 'BizEntity.Read'],
} as const satisfies Record<string, Needed>

export type PagePath = keyof typeof pages

/** The permissions for the page of a route; a path that is not a page needs none. */
export const neededFor = (route: string): Needed => pages[route as PagePath] ?? null

/** The permissions for an address: /1/investors/20 belongs to /$product/investors/$id. */
export function neededAt(address: string): Needed {
  const [path = ''] = address.split('?')
  return neededFor(path.replace(/^\/\d+/, '/$product').replace(/\/\d+/, '/$id'))
}
