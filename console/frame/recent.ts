import { remember, remembered } from '../shared/list/columns.ts'

export type Seen = { to: string; title: string; subtitle: string }

const most = 8

export const recentlySeen = () => remembered<Seen[]>('recent', [])

/** What was looked at last stands first in the search. */
export function see(seen: Seen) {
  const others = recentlySeen().filter(({ to }) => to !== seen.to)
  remember('recent', [seen, ...others].slice(0, most))
}
