import type { ImportType } from '../../src/integration/import/schema.ts'
import type { Import } from '../shared/api/types.ts'
import { Tag, type Tone } from '../shared/view/Status.tsx'

export const importTypes: { value: ImportType; label: string }[] = [
  { value: 'Investors', label: 'Investors' },
  { value: 'Prices', label: 'Prices' },
  { value: 'Transactions', label: 'Transactions' },
  { value: 'OpeningBalances', label: 'Opening balances' },
  { value: 'PaymentResults', label: 'Results of payments' },
]

export const modeNames: { [mode: string]: string } = {
  validate: 'Check only',
  atomic: 'All or none',
  continue: 'Good rows',
}

const tones: { [status: string]: Tone } = { Queued: 'waits', Running: 'moves', Failed: 'wrong' }

/** The outcome of an import; a completed import is only good if no row was refused. */
export function Outcome({ of: { status, rowsRefused } }: { of: Import }) {
  if (status === 'Completed')
    return rowsRefused ? <Tag tone="waits">With errors</Tag> : <Tag tone="good">Completed</Tag>
  return <Tag tone={tones[status ?? ''] ?? 'over'}>{status}</Tag>
}
