import { useEffect } from 'react'
import { useSession } from '../shared/api/session.ts'
import { remember, remembered } from '../shared/list/columns.ts'

export type Seen = { to: string; title: string; subtitle: string }

const most = 8

/** By user: whoever comes to this browser next sees nothing of what others have looked at. */
const keyOf = (userID: number | undefined) => `recent.${userID ?? 0}`

/** What was looked at last, of products that one still sees. */
export function useRecentlySeen(products: readonly { productID: number | null }[]): Seen[] {
  const { user } = useSession()
  const isOurs = ({ to }: Seen) => products.some(({ productID }) => to.startsWith(`/${productID}/`))
  return remembered<Seen[]>(keyOf(user?.userID), []).filter(isOurs)
}

/** What is looked at stands first in the search; what is not there, not at all. */
export function useSeen(to: string, title: string, subtitle: string, isThere: boolean) {
  const { user } = useSession()
  const key = keyOf(user?.userID)
  useEffect(() => {
    if (!isThere) return
    const others = remembered<Seen[]>(key, []).filter((one) => one.to !== to)
    remember(key, [{ to, title, subtitle }, ...others].slice(0, most))
  }, [key, to, title, subtitle, isThere])
}
