import { reconciliationLines } from '../../money/reconciliation/lines.ts'
import type { Check } from './checks.ts'

/**
 * SQL for the reconciliation lines of one figure, of distributions or payment runs, that are not
 * what they should be.
 */
const lines = (of: 'Distribution' | 'Payment run', item: string) => `
  select l.product_id, l.of, l.id, l.item, l.amount, l.should_be
  from (${reconciliationLines().text}) l
  where l.of = '${of}' and l.item = '${item}' and l.amount <> l.should_be`

/** Checks the figures of report 10 for every distribution and every payment run. */
export const reconciliationChecks: Check[] = [
  {
    name: 'what a distribution declared is what its accounts are entitled to',
    of: 'distribution',
    violations: lines('Distribution', 'Declared'),
  },
  {
    name: 'what accounts are entitled to is tax, reinvested money and cash, in total',
    of: 'distribution',
    violations: lines('Distribution', 'Gross'),
  },
  {
    name: 'the tax of a distribution is what was posted as such, in total',
    of: 'distribution',
    violations: lines('Distribution', 'Tax withheld'),
  },
  {
    name: 'the cash of a distribution is in runs, among exceptions, or not yet in a run',
    of: 'distribution',
    violations: lines('Distribution', 'Cash'),
  },
  {
    name: 'a run pays what its transactions come to, and what was reissued since',
    of: 'payment_run',
    violations: lines('Payment run', 'Payments'),
  },
  {
    name: 'the files of a run come to what it pays',
    of: 'payment_run',
    violations: lines('Payment run', 'Bank file'),
  },
  {
    name: 'the results of a run, and those awaited, come to what its files pay',
    of: 'payment_run',
    violations: lines('Payment run', 'Results'),
  },
]
