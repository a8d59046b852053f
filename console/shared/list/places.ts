/**
 * Where the user left lists, kept while the browser tab exists: the scroll position by full
 * address, and the last address with filters by path.
 */
type Left = { tops: [list: string, top: number][]; addresses: [path: string, address: string][] }

const key = 'registry.places'
const most = 50

function leftBefore(): Left {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '') as Left
  } catch {
    return { tops: [], addresses: [] }
  }
}

const left = leftBefore()
const tops = new Map(left.tops)
const addresses = new Map(left.addresses)

addEventListener('pagehide', () => {
  const kept: Left = { tops: [...tops].slice(-most), addresses: [...addresses].slice(-most) }
  sessionStorage.setItem(key, JSON.stringify(kept))
})

const inConsole = (address: string) => address.replace(/^\/console(?=\/)/, '')

/** The current address within the console. */
export const here = () => inConsole(window.location.pathname + window.location.search)

/** The scroll position of a list when it was left. */
export const topOf = (list: string) => tops.get(list) ?? 0
export const leaveAt = (list: string, top: number) => void tops.set(list, top)

/** Remembers the current list with its filters, so that the link back from a record leads there. */
export const visited = () => void addresses.set(inConsole(window.location.pathname), here())

/** The last address of a list, with its filters. */
export const lastOf = (path: string) => addresses.get(path) ?? path
