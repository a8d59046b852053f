import { isUnpriced, type Priced } from './months.ts'

const codesOf = (rows: Priced[]) => [
  ...new Set(
    rows
      .filter(isUnpriced)
      .map(({ securityCode, investmentID }) => securityCode ?? `class ${investmentID}`),
  ),
]

/** Names the classes that a value leaves out because they have no price. */
export function Unpriced({ rows }: { rows: Priced[] }) {
  const codes = codesOf(rows)
  if (codes.length === 0) return null
  return (
    <div>
      Without {codes.join(', ')}: {codes.length === 1 ? 'it has' : 'they have'} no price.
    </div>
  )
}

/** Names the classes that a balance values at the money invested. */
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
