import type { ReactNode } from 'react'

export type Column<Row> = {
  id: string
  title: string
  /** The text of the cell, which is copied, exported and, unless `cell` is given, shown. */
  text: (row: Row) => string
  cell?: (row: Row) => ReactNode
  /** Aligns figures to the right. */
  right?: boolean
  /** A CSS grid track: 120px, minmax(160px, 2fr). */
  width?: string
  /** Hidden until the user chooses it. */
  spare?: boolean
}

const usual = 'minmax(96px, 1fr)'
const gap = 12
const edges = 32

/** The widest character of a figure in pixels, at the font size of a row. */
const ofFigure = 8.5

/** The length of the longest figure seen in each column, by column id. */
export type Longest = ReadonlyMap<string, number>

/**
 * The columns as a CSS grid, and the least width at which all rows stay equally wide. Names may be
 * cut off but figures never, so figure columns are as wide as their longest figure.
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

/** A choice stored in this browser for a list: its columns, its saved views. */
export function remembered<T>(key: string, fallback: T): T {
  try {
    return JSON.parse(localStorage.getItem(`registry.${key}`) ?? '') as T
  } catch {
    return fallback
  }
}

export const remember = (key: string, value: unknown) =>
  localStorage.setItem(`registry.${key}`, JSON.stringify(value))
