import type { InCurrency } from '../api/money.ts'

type Props<Row> = { others: InCurrency<Row>[]; amount: (one: InCurrency<Row>) => string }

/** Below a figure, what there is in other currencies than its own. */
export const InOthers = <Row,>({ others, amount }: Props<Row>) =>
  others.map((one) => (
    <div key={one.currency}>
      and {amount(one)} {one.currency}
    </div>
  ))
