import type { ReactNode } from 'react'

export type Column<Row> = {
  id: string
  title: string
  /** The text of the cell: what is copied, exported and shown, unless `cell` shows more. */
  text: (row: Row) => string
  cell?: (row: Row) => ReactNode
  /** Figures stand right. */
  right?: boolean
  /** As CSS has it in a grid: 120px, minmax(160px, 2fr). */
  width?: string
  /** Not shown until somebody chooses it. */
  spare?: boolean
}

const usual = 'minmax(96px, 1fr)'
const gap = 12
const edges = 32

/** The columns as a grid, and the least width at which no row is narrower than another. */
export function gridOf<Row>(columns: Column<Row>[], before = 0) {
  const widths = columns.map(({ width = usual }) => width)
  const least = widths.map((width) => Number(/\d+/.exec(width)?.[0] ?? 96))
  const sum = least.reduce((total, width) => total + width + gap, edges + before)
  return {
    gridTemplateColumns: `${before ? `${before}px ` : ''}${widths.join(' ')}`,
    minWidth: sum,
  }
}

/** A choice of this browser's, by list: which columns, which saved views. */
export function remembered<T>(key: string, fallback: T): T {
  try {
    return JSON.parse(localStorage.getItem(`registry.${key}`) ?? '') as T
  } catch {
    return fallback
  }
}

export const remember = (key: string, value: unknown) =>
  localStorage.setItem(`registry.${key}`, JSON.stringify(value))
