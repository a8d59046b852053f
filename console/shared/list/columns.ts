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

export const templateOf = <Row>(columns: Column<Row>[]) =>
  columns.map(({ width }) => width ?? 'minmax(110px, 1fr)').join(' ')

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
