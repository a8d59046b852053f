import { useQuery } from '@tanstack/react-query'
import { api, type Params } from '../shared/api/client.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import type { BizEvent, Distribution } from '../shared/api/types.ts'
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
