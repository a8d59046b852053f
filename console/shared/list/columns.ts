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

/** The most that one character of a figure takes, in the letters of a row. */
const ofFigure = 8.5

/** How many characters the longest figure has that was seen in a column, by its id. */
export type Longest = ReadonlyMap<string, number>

/**
 * The columns as a grid, and the least width at which no row is narrower than another. Names may
 * be cut, figures never: their columns are as wide as the longest.
 */
export function gridOf<Row>(columns: Column<Row>[], longest: Longest, before = 0) {
  const widths = columns.map(({ id, width = usual }) => {
    const least = Number(/\d+/.exec(width)?.[0] ?? 96)
    return { width, least: Math.max(least, Math.ceil((longest.get(id) ?? 0) * ofFigure)) }
  })
  const sum = widths.reduce((total, { least }) => total + least + gap, edges + before)
  const template = widths.map(({ width, least }) => width.replace(/\d+/, String(least)))
  return {
    gridTemplateColumns: `${before ? `${before}px ` : ''}${template.join(' ')}`,
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
