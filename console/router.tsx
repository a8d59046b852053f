import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from '@tanstack/react-router'
import { areas, settings } from './frame/areas.ts'
import { Frame } from './frame/Frame.tsx'
import type { PagePath } from './frame/pages.ts'
import { productOf } from './frame/where.ts'
import { part } from './shared/api/connection.ts'
import { useProducts } from './shared/api/products.ts'
import { readSearch } from './shared/list/filters.ts'
import { type Needed, useMay } from './shared/permission.ts'
import { Failure } from './shared/view/Failure.tsx'
import { Loading, Missing } from './shared/view/Page.tsx'

const root = createRootRoute({ component: Frame, validateSearch: readSearch })

/**
 * Opens the product last looked at, or the page that creates a product if there is none. Users who
 * may not see that page come to the first one they may see.
 */
function Home() {
  const product = productOf('', useProducts())
  const may = useMay()
  const allowed = ({ needs }: { needs: Needed }) => may(needs)
  const area = product && areas.find(allowed)
  const other = may('Product.Read') ? '/settings/products' : settings.find(allowed)?.path
  const to: string = area ? `/${product.productID}${area.path}` : (other ?? '/settings/account')
  return <Navigate to={to} replace />
}

/** Makes a route; only a path of `pages` is possible, with the permissions it needs. */
const at = <Path extends PagePath>(
  path: Path,
  load: () => Promise<Record<string, unknown>>,
  name: string,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(() => part(load as () => Promise<Record<string, never>>), name),
  })

const routes = [
  createRoute({ getParentRoute: () => root, path: '/', component: Home }),
  at('/settings/products', () => import('./settings/Products.tsx'), 'Products'),
  at('/settings/users', () => import('./settings/Users.tsx'), 'Users'),
  at('/approvals', () => import('./approvals/Approvals.tsx'), 'Approvals'),
  at('/settings/approval-rules', () => import('./approvals/Rules.tsx'), 'Rules'),
  at('/settings/tax-rates', () => import('./settings/TaxRates.tsx'), 'TaxRates'),
  at('/settings/webhooks', () => import('./settings/Webhooks.tsx'), 'Webhooks'),
  at('/settings/account', () => import('./settings/Account.tsx'), 'Account'),
  at('/settings/audit', () => import('./settings/AuditTrail.tsx'), 'AuditTrail'),
  at('/$product', () => import('./overview/Overview.tsx'), 'Overview'),
  at('/$product/investors', () => import('./investors/Investors.tsx'), 'Investors'),
  at('/$product/investors/new', () => import('./investors/InvestorForm.tsx'), 'NewInvestor'),
  at('/$product/investors/$id', () => import('./investors/Investor.tsx'), 'Investor'),
  at('/$product/investors/$id/edit', () => import('./investors/InvestorForm.tsx'), 'EditInvestor'),
  at('/$product/transactions', () => import('./transactions/Transactions.tsx'), 'Transactions'),
  at(
    '/$product/transactions/new',
    () => import('./transactions/NewTransaction.tsx'),
    'NewTransaction',
  ),
  at(
    '/$product/transactions/paste',
    () => import('./transactions/PasteTransactions.tsx'),
    'PasteTransactions',
  ),
  at('/$product/notices', () => import('./notices/Notices.tsx'), 'Notices'),
  at('/$product/classes', () => import('./classes/Classes.tsx'), 'Classes'),
  at('/$product/classes/$id', () => import('./classes/Class.tsx'), 'Class'),
  at('/$product/distributions', () => import('./distributions/Distributions.tsx'), 'Distributions'),
  at(
    '/$product/distributions/new',
    () => import('./distributions/DistributionForm.tsx'),
    'NewDistribution',
  ),
  at(
    '/$product/distributions/$id',
    () => import('./distributions/Distribution.tsx'),
    'Distribution',
  ),
  at('/$product/payments', () => import('./payments/Payments.tsx'), 'Payments'),
  at('/$product/payments/new', () => import('./payments/NewRun.tsx'), 'NewRun'),
  at('/$product/payments/$id', () => import('./payments/Run.tsx'), 'Run'),
  at('/$product/documents', () => import('./documents/Documents.tsx'), 'Documents'),
  at('/$product/import', () => import('./import/Imports.tsx'), 'Imports'),
  at('/$product/import/new', () => import('./import/NewImport.tsx'), 'NewImport'),
  at('/$product/import/$id', () => import('./import/ImportPage.tsx'), 'ImportPage'),
  at('/$product/holds', () => import('./holds/Holds.tsx'), 'Holds'),
  at('/$product/reports', () => import('./reports/Reports.tsx'), 'Reports'),
] as const

/** Filters are in the address as plain texts, named as in the API. */
export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const query = new URLSearchParams(readSearch(search)).toString()
    return query ? `?${query}` : ''
  },
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
  defaultNotFoundComponent: () => (
    <Missing title="There is nothing here">The address may be old, or mistyped.</Missing>
  ),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
