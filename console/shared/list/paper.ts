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

/** All rows, where they are in the page already; the browser's own menu waits for no other. */
function presentOf<Row>({ total, at }: Rows<Row>): Row[] | undefined {
  const rows = Array.from({ length: total ?? 0 }, (_, i) => at(i))
  return rows.every((row) => row !== undefined) ? rows : undefined
}

/** The rows of a list for as long as it is printed. */
export function usePaper<Row>(rows: Rows<Row>): Row[] | undefined {
  const [paper, setPaper] = useState<Row[]>()
  const latest = useRef(rows)
  useEffect(() => {
    latest.current = rows
  })
  useEffect(() => {
    // What is printed is what stands in the page right after.
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
