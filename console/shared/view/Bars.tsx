import classes from './chart.module.css'

export type Pair = { label: string; up: string; down: string }

/** A picture may be slightly inexact, so here a decimal becomes a number. */
const size = (value: string) => Math.abs(Number.parseFloat(value))

type Props = {
  title: string
  pairs: Pair[]
  format: (value: string) => string
  names: { up: string; down: string }
}

const width = 800
const tall = 130
const middle = tall / 2

/** Monthly bars: money in above the line, money out below it. */
export function Bars({ title, pairs, format, names }: Props) {
  const most = Math.max(...pairs.flatMap(({ up, down }) => [size(up), size(down)]), 1)
  const step = width / Math.max(pairs.length, 1)
  const height = (value: string) => (size(value) / most) * (middle - 4)
  const first = pairs[0]
  const last = pairs.at(-1)
  if (!first || !last) return null
  const words = pairs
    .map(
      ({ label, up, down }) => `${label} ${names.up} ${format(up)}, ${names.down} ${format(down)}`,
    )
    .join('; ')
  return (
    <figure className={classes.figure}>
      <svg
        viewBox={`0 0 ${width} ${tall}`}
        role="img"
        aria-label={`${title}: ${words}`}
        preserveAspectRatio="none"
        height={tall}
      >
        {pairs.map(({ label, up, down }, i) => {
          const place = { x: i * step + step * 0.2, width: step * 0.6 }
          return (
            <g key={label}>
              <title>{`${label}: ${names.up} ${format(up)}, ${names.down} ${format(down)}`}</title>
              <rect {...place} y={middle - height(up)} height={height(up)} className={classes.up} />
              <rect {...place} y={middle} height={height(down)} className={classes.down} />
            </g>
          )
        })}
        <line x1="0" x2={width} y1={middle} y2={middle} className={classes.axis} />
      </svg>
      <figcaption className={classes.ends}>
        <span>{first.label}</span>
        <span className={classes.legend}>
          <i className={classes.upKey} /> {names.up} <i className={classes.downKey} /> {names.down}
        </span>
        <span>{last.label}</span>
      </figcaption>
    </figure>
  )
}
