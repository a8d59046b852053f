import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Rows } from './use-rows.ts'

/** A hundred sheets: who wants more takes the CSV. */
const most = 5000

/** The lists of the page, each of which fetches its rows when the page is printed. */
const lists = new Set<() => Promise<void>>()

/** Prints the page, its lists as long as they are: of themselves they hold the rows in view alone. */
export async function printPage() {
  await Promise.all([...lists].map((prepare) => prepare()))
  window.print()
}

/** The rows of a list for as long as it is printed. */
export function usePaper<Row>({ all }: Rows<Row>): Row[] | undefined {
  const [paper, setPaper] = useState<Row[]>()
  const latest = useRef(all)
  useEffect(() => {
    latest.current = all
  })
  useEffect(() => {
    const prepare = async () => {
      const rows = await latest.current(most)
      // What is printed is what stands in the page right after.
      flushSync(() => setPaper(rows))
    }
    const forget = () => setPaper(undefined)
    lists.add(prepare)
    addEventListener('afterprint', forget)
    return () => {
      lists.delete(prepare)
      removeEventListener('afterprint', forget)
    }
  }, [])
  return paper
}
