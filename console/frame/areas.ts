import type { Needed } from '../shared/permission.ts'
import type { IconName } from '../shared/view/icons.tsx'
import { neededFor, type PagePath } from './pages.ts'

export type Place = {
  /** The path; for pages of a product, below the path of the product. */
  path: string
  label: string
  icon: IconName
  needs: Needed
}
/** A place with the key that opens it after "g". */
export type Area = Place & { key: string }

type Below<Path> = Path extends `/$product${infer Rest}` ? Rest : never

const inProduct = (path: Below<PagePath>, label: string, icon: IconName): Place => ({
  ...{ path, label, icon },
  needs: neededFor(`/$product${path}`),
})
const elsewhere = (path: PagePath, label: string, icon: IconName): Place => ({
  ...{ path, label, icon },
  needs: neededFor(path),
})

/** The areas of a product, in the order of the menu. */
export const areas: Area[] = [
  { ...inProduct('', 'Overview', 'overview'), key: 'o' },
  { ...inProduct('/investors', 'Investors', 'investors'), key: 'i' },
  { ...inProduct('/transactions', 'Transactions', 'transactions'), key: 't' },
  { ...inProduct('/notices', 'Notices', 'notices'), key: 'n' },
  { ...inProduct('/classes', 'Classes and prices', 'classes'), key: 'c' },
  { ...inProduct('/distributions', 'Distributions', 'distributions'), key: 'd' },
  { ...inProduct('/payments', 'Payments', 'payments'), key: 'y' },
  { ...inProduct('/holds', 'Holds', 'lock'), key: 'h' },
  { ...inProduct('/reports', 'Reports', 'reports'), key: 'r' },
  { ...inProduct('/documents', 'Documents', 'documents'), key: 'm' },
  { ...inProduct('/import', 'Import', 'import'), key: 'f' },
]

/** Areas that do not belong to one product. */
export const settings: Area[] = [
  { ...elsewhere('/approvals', 'Approvals', 'check'), key: 'v' },
  { ...elsewhere('/settings/products', 'Products', 'settings'), key: 'p' },
  { ...elsewhere('/settings/users', 'Users', 'user'), key: 'u' },
  { ...elsewhere('/settings/approval-rules', 'Approval rules', 'rule'), key: 'e' },
  { ...elsewhere('/settings/tax-rates', 'Tax rates', 'percent'), key: 'x' },
  { ...elsewhere('/settings/webhooks', 'Webhooks', 'webhook'), key: 'w' },
  { ...elsewhere('/settings/audit', 'Audit trail', 'clock'), key: 'a' },
]

/** Frequent actions, offered by the search. */
export const actions: Place[] = [
  inProduct('/investors/new', 'New investor', 'plus'),
  inProduct('/transactions/new', 'New transaction', 'plus'),
  inProduct('/transactions/paste', 'Paste transactions', 'plus'),
  inProduct('/distributions/new', 'New distribution', 'plus'),
  inProduct('/import/new', 'Import a file', 'import'),
  inProduct('/payments/new', 'New payment run', 'plus'),
]
