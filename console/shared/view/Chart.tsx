import { useId } from 'react'
import classes from './chart.module.css'

export type Point = { label: string; value: string }

/** A picture may be slightly inexact, so here a decimal becomes a number. */
const height = (value: string) => Number.parseFloat(value)

type Props = { title: string; points: Point[]; format: (value: string) => string; tall?: number }

const width = 800

/**
 * A line chart over time. Its text alternative and its caption give the first and the last value.
 */
export function LineChart({ title, points, format, tall = 180 }: Props) {
  const id = useId()
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last || points.length < 2) return null
  const values = points.map(({ value }) => height(value))
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const span = most - least || 1
  const x = (i: number) => (i / (points.length - 1)) * width
  const y = (value: number) => tall - 12 - ((value - least) / span) * (tall - 28)
  const line = values.map(
    (value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`,
  )
  const words = `${title}: ${format(first.value)} on ${first.label}, ${format(last.value)} on ${last.label}`
  return (
    <figure className={classes.figure}>
      <svg
        viewBox={`0 0 ${width} ${tall}`}
        role="img"
        aria-label={words}
        preserveAspectRatio="none"
        height={tall}
      >
        <defs>
          <linearGradient id={id} x1="0" x2="0" y1="0" y2="1">
            <stop offset="0" className={classes.top} />
            <stop offset="1" className={classes.bottom} />
          </linearGradient>
        </defs>
        <path d={`${line.join('')}L${width} ${tall}L0 ${tall}Z`} fill={`url(#${id})`} />
        <path d={line.join('')} className={classes.line} vectorEffect="non-scaling-stroke" />
      </svg>
      <figcaption className={classes.ends}>
        <span>
          {first.label} · {format(first.value)}
        </span>
        <span>
          {last.label} · {format(last.value)}
        </span>
      </figcaption>
    </figure>
  )
}
