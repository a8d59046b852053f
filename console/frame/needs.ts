import { useQueries } from '@tanstack/react-query'
import { api, type Params } from '../shared/api/client.ts'
import { atOnce, useSession } from '../shared/api/session.ts'
import type {
  Approval,
  BizEvent,
  Import,
  PaymentRun,
  Product,
  Report,
  Webhook,
} from '../shared/api/types.ts'
import { count, daysAgo, today } from '../shared/format.ts'
import { type Permission, useMay } from '../shared/permission.ts'

/** A task that waits for the user, with the list that shows it. */
export type Need = { text: string; to: string }

/** The tasks that wait, as far as known: lists that could not be read may hold more. */
export type Needs = {
  needs: Need[]
  /** The lists that could not be read, by name; `retry` reads them again. */
  unread: string[]
  retry: () => void
  /**
   * Whether everything has been read; until then an empty list does not mean that nothing waits.
   */
  isKnown: boolean
}

/** One request to the service, and the test for rows of its answer that wait. */
type Source = {
  /** The permissions to act on the rows and to see their list. */
  needs: Permission[]
  path: string
  params: Params
  to: string
  /** The name of the list, shown where it could not be read. */
  of: string
  waits: (row: never) => boolean
  words: (counted: Counted) => string
}

const most = 100
/**
 * Failed imports are shown for this many days: they are replaced rather than repaired, so later
 * nobody waits for them.
 */
const recentDays = 7
const everyMs = 60_000

/** The number of rows that wait; `isAll` is false where the list has more rows than were read. */
type Counted = { number: number; isAll: boolean }

const many = ({ number, isAll }: Counted, one: string, more: string) =>
  `${count(number)}${isAll ? '' : ' or more'} ${number === 1 && isAll ? one : more}`

/** Tasks that do not belong to one product. */
const everywhere: Source[] = [
  {
    needs: ['Approval.Write', 'Approval.Read'],
    path: '/Approval',
    params: { ToDecide: 'true' },
    to: '/approvals?ToDecide=true',
    of: 'approvals',
    waits: (_: Approval) => true,
    words: (n) => many(n, 'change waits for your approval', 'changes wait for your approval'),
  },
  {
    needs: ['Webhook.Read'],
    path: '/Webhook',
    params: {},
    to: '/settings/webhooks',
    of: 'webhooks',
    waits: ({ failureCount }: Webhook) => (failureCount ?? 0) > 0,
    words: (n) => many(n, 'webhook does not answer', 'webhooks do not answer'),
  },
]

const ofProduct = ({ productID, timeZone }: Product, userID: number | undefined): Source[] => {
  const at = (path: string) => `/${productID}${path}`
  const isDraft = ({ createdByUserID }: PaymentRun) => createdByUserID !== userID
  const ours = { ProductID: productID, Order: 'desc' }
  return [
    {
      needs: ['PaymentRun.Approve', 'PaymentRun.Read'],
      path: '/PaymentRun',
      params: { ...ours, State: 'Draft' },
      to: at('/payments?State=Draft'),
      of: 'payment runs',
      waits: isDraft,
      words: (n) => many(n, 'payment run to approve', 'payment runs to approve'),
    },
    {
      needs: ['PaymentRun.Write', 'PaymentRun.Read'],
      path: '/PaymentRun',
      params: { ...ours, State: 'Draft' },
      to: at('/payments?State=Draft'),
      of: 'payment runs',
      waits: ({ exceptions }: PaymentRun) => (exceptions?.count ?? 0) > 0,
      words: (n) => many(n, 'draft run with exceptions', 'draft runs with exceptions'),
    },
    {
      needs: ['BizTransaction.Write', 'BizEvent.Read'],
      path: '/BizEvent',
      // Oldest first, since older notices are due earlier.
      params: { ...ours, BizEventStatusID: 1, Order: 'asc' },
      to: at('/notices?BizEventStatusID=1'),
      of: 'notices',
      waits: ({ bizEventDate }: BizEvent) => (bizEventDate ?? '') <= today(timeZone),
      words: (n) => many(n, 'notice is due', 'notices are due'),
    },
    {
      needs: ['Report.Read'],
      path: '/Report',
      params: { ...ours, ReportStatusID: 4 },
      to: at('/reports?ReportStatusID=4'),
      of: 'reports',
      waits: (_: Report) => true,
      words: (n) => many(n, 'report failed', 'reports failed'),
    },
    {
      needs: ['Report.Read'],
      path: '/Report',
      params: { ...ours, FailedDeliveries: 'true' },
      to: at('/reports?FailedDeliveries=true'),
      of: 'reports',
      waits: (_: Report) => true,
      words: (n) =>
        many(
          n,
          'report has statements that did not arrive',
          'reports have statements that did not arrive',
        ),
    },
    {
      needs: ['Import.Write'],
      path: '/Import',
      params: { Status: 'Failed', Order: 'desc' },
      to: at('/import?Status=Failed'),
      of: 'imports',
      waits: ({ createdDate }: Import) => (createdDate ?? '') >= daysAgo(recentDays),
      words: (n) => many(n, 'import failed', 'imports failed'),
    },
  ]
}

/** The tasks that wait for the user and that the user may do, read again every minute. */
export function useNeeds(product: Product | undefined): Needs {
  const may = useMay()
  const { user } = useSession()
  const own = product ? ofProduct(product, user?.userID) : []
  const sources = [...everywhere, ...own].filter(({ needs }) => needs.every(may))
  const results = useQueries({
    queries: sources.map(({ path, params }) => ({
      queryKey: ['needs', path, params],
      queryFn: async () => (await api.get<never[]>(path, { ...params, PageSize: most })).data,
      refetchInterval: everyMs,
      staleTime: everyMs / 2,
    })),
  })
  const failed = results.map(({ data, isError }) => isError && data === undefined)
  return {
    needs: sources.flatMap(({ to, waits, words }, i) => {
      const read = results[i]?.data ?? []
      const number = read.filter(waits).length
      const isAll = read.length < atOnce(most)
      return number > 0 ? [{ text: words({ number, isAll }), to }] : []
    }),
    unread: [...new Set(sources.filter((_, i) => failed[i]).map(({ of }) => of))],
    retry: () => {
      for (const { isError, refetch } of results) if (isError) void refetch()
    },
    isKnown: results.every(({ data }) => data !== undefined),
  }
}
