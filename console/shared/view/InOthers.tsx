import type { InCurrency } from '../api/money.ts'

type Props<Row> = { others: InCurrency<Row>[]; amount: (one: InCurrency<Row>) => string }

/** The amounts in other currencies, shown below a figure. */
export const InOthers = <Row,>({ others, amount }: Props<Row>) =>
  others.map((one) => (
    <div key={one.currency}>
      and {amount(one)} {one.currency}
    </div>
  ))
