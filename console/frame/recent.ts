import { useEffect } from 'react'
import { useSession } from '../shared/api/session.ts'
import { remember, remembered } from '../shared/list/columns.ts'

export type Seen = { to: string; title: string; subtitle: string }

const most = 8

/**
 * Stored by user, so that the next user of this browser does not see what others have looked at.
 */
const keyOf = (userID: number | undefined) => `recent.${userID ?? 0}`

/** The records seen last, limited to products that the user still sees. */
export function useRecentlySeen(products: readonly { productID: number | null }[]): Seen[] {
  const { user } = useSession()
  const isOurs = ({ to }: Seen) => products.some(({ productID }) => to.startsWith(`/${productID}/`))
  return remembered<Seen[]>(keyOf(user?.userID), []).filter(isOurs)
}

/**
 * Puts a record that is being looked at first in the search; records that do not exist are left
 * out.
 */
export function useSeen(to: string, title: string, subtitle: string, isThere: boolean) {
  const { user } = useSession()
  const key = keyOf(user?.userID)
  useEffect(() => {
    if (!isThere) return
    const others = remembered<Seen[]>(key, []).filter((one) => one.to !== to)
    remember(key, [{ to, title, subtitle }, ...others].slice(0, most))
  }, [key, to, title, subtitle, isThere])
}
