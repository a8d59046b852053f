import type { ReactNode } from 'react'
import { type Category, useLookups } from '../api/lookups.ts'
import classes from './status.module.css'

/** good: settled; waits: somebody must act; wrong: failed; moves: under way. */
export type Tone = 'good' | 'waits' | 'wrong' | 'moves' | 'over'

const tones: Partial<Record<Category, Record<number, Tone>>> = {
  BizEntityStatus: { 1: 'good', 2: 'waits' },
  AccountStatus: { 1: 'good', 2: 'waits' },
  DistributionStatus: { 2: 'moves', 3: 'waits', 4: 'good' },
  BizEventStatus: { 1: 'waits', 2: 'good' },
  BizTransactionStatus: { 1: 'good', 2: 'moves', 3: 'wrong' },
  ReportStatus: { 2: 'moves', 3: 'good', 4: 'wrong' },
}

export const Tag = ({ tone = 'over', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`${classes.tag} ${classes[tone]}`}>{children}</span>
)

export function Status({ category, id }: { category: Category; id: number | null | undefined }) {
  const { name } = useLookups()
  if (!id) return null
  return <Tag tone={tones[category]?.[id] ?? 'over'}>{name(category, id)}</Tag>
}

export const Active = ({ on }: { on: boolean | null }) => (
  <Tag tone={on ? 'good' : 'over'}>{on ? 'Active' : 'Inactive'}</Tag>
)
