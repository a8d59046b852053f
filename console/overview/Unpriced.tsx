import { isUnpriced, type Priced } from './months.ts'

const codesOf = (rows: Priced[]) => [
  ...new Set(
    rows
      .filter(isUnpriced)
      .map(({ securityCode, investmentID }) => securityCode ?? `class ${investmentID}`),
  ),
]

/** Says which classes a value leaves out. */
export function Unpriced({ rows }: { rows: Priced[] }) {
  const codes = codesOf(rows)
  if (codes.length === 0) return null
  return (
    <div>
      Without {codes.join(', ')}: {codes.length === 1 ? 'it has' : 'they have'} no price.
    </div>
  )
}

/** Says which classes a balance has by the money that was invested. */
export function AtCost({ rows }: { rows: Priced[] }) {
  const codes = codesOf(rows)
  if (codes.length === 0) return null
  const [counts, has] = codes.length === 1 ? ['counts', 'it has'] : ['count', 'they have']
  return (
    <div>
      {codes.join(', ')} {counts} by what was invested: {has} no price.
    </div>
  )
}
