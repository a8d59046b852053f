import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Params } from '../shared/api/client.ts'
import { pagesOf } from '../shared/api/pages.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import type { Audit, BizEvent, Distribution } from '../shared/api/types.ts'
import { daysAgo } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'

export const pending = 1
/** The number of rows of a list on the overview. */
export const latest = 6
const most = 1000

/** The pending notices, of all kinds or one: the latest few, and the total number. */
export function usePending(more: Params = {}) {
  const { productID } = useProduct()
  const may = useMay()
  const params = { ProductID: productID, BizEventStatusID: pending, Order: 'desc', ...more }
  return useQuery({
    queryKey: ['pending notices', params],
    queryFn: () =>
      api.get<BizEvent[]>('/BizEvent', { ...params, PageSize: latest, IncludeTotal: true }),
    enabled: may('BizEvent.Read'),
  })
}

export const useDistributions = () => {
  const { productID } = useProduct()
  const may = useMay()
  return useRead<Distribution[]>(
    '/Distribution',
    { ProductID: productID, PageSize: most, Order: 'desc' },
    may('Distribution.Read'),
  )
}

/** The audit records read at a time, and the most that are looked through. */
const auditPage = 100
export const lookedAt = 1000

/**
 * The last changes of 24 hours that concern this product or no product, newest first; `isAll` is
 * false where older ones may be behind those of other products. The trail is read page by page,
 * because sign-ins and renewed sessions fill it and are no changes.
 */
export function useLastChanges() {
  const { productID } = useProduct()
  const [since] = useState(() => daysAgo(1))
  const isOurs = ({ operation, productID: of }: Audit) =>
    !operation?.includes('/User/') && (of === null || of === productID)
  return useQuery({
    queryKey: ['last changes', productID, since],
    queryFn: async () => {
      const ours: Audit[] = []
      let read = 0
      const asked = { 'OccurredDate.greaterThanOrEqual': since, Order: 'desc' }
      for await (const page of pagesOf<Audit>('/Audit', asked, auditPage)) {
        ours.push(...page.filter(isOurs))
        read += page.length
        if (ours.length >= latest || read >= lookedAt) return { ours, isAll: false }
      }
      return { ours, isAll: true }
    },
  })
}
