import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Rows } from './use-rows.ts'

/** About a hundred sheets; longer lists are for CSV export. */
const most = 5000

/** The lists on the page; each function fetches the rows of one list for printing. */
const lists = new Set<() => Promise<void>>()

/** Prints the page with the whole of its lists, which on screen hold only the rows in view. */
export async function printPage() {
  await Promise.all([...lists].map((prepare) => prepare()))
  window.print()
}

/**
 * All rows, if they are loaded already: the browser's own print command does not wait for fetching.
 */
function presentOf<Row>({ total, at }: Rows<Row>): Row[] | undefined {
  const rows = Array.from({ length: total ?? 0 }, (_, i) => at(i))
  return rows.every((row) => row !== undefined) ? rows : undefined
}

/** The rows to print of a list, while it is printed. */
export function usePaper<Row>(rows: Rows<Row>): Row[] | undefined {
  const [paper, setPaper] = useState<Row[]>()
  const latest = useRef(rows)
  useEffect(() => {
    latest.current = rows
  })
  useEffect(() => {
    // Rendered at once, since the browser prints the page as it is right after this.
    const print = (all: Row[] | undefined) => flushSync(() => setPaper((before) => before ?? all))
    const prepare = async () => print(await latest.current.all(most))
    const byMenu = () => print(presentOf(latest.current))
    const forget = () => setPaper(undefined)
    lists.add(prepare)
    addEventListener('beforeprint', byMenu)
    addEventListener('afterprint', forget)
    return () => {
      lists.delete(prepare)
      removeEventListener('beforeprint', byMenu)
      removeEventListener('afterprint', forget)
    }
  }, [])
  return paper
}
