/**
 * Where lists were left, for as long as this tab of the browser is there: by the whole address how
 * far one had scrolled, and by the path the address with the filters that were last in force.
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

/** The address in view. */
export const here = () => inConsole(window.location.pathname + window.location.search)

/** How far a list was scrolled when it was left. */
export const topOf = (list: string) => tops.get(list) ?? 0
export const leaveAt = (list: string, top: number) => void tops.set(list, top)

/** The list in view, with its filters: where the way back from its records leads. */
export const visited = () => void addresses.set(inConsole(window.location.pathname), here())

/** A list's address as it was last looked at. */
export const lastOf = (path: string) => addresses.get(path) ?? path
