import type { Money } from '../shared/api/money.ts'
import type { Hold } from '../shared/api/types.ts'
import { day } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { Tag } from '../shared/view/Status.tsx'

/** Whether a hold is in force today, is over, or is still to come. */
function stateOf({ validFrom, validTo }: Hold, today: string) {
  if (validTo && validTo < today) return { text: 'Over', tone: 'over' as const }
  if ((validFrom ?? '') > today) return { text: 'To come', tone: 'moves' as const }
  return { text: 'In force', tone: 'waits' as const }
}

const heldIn = (units: Money) => (hold: Hold) =>
  hold.all ? 'All units' : units(hold.quantity, hold)

/** The columns of a list of holds, with each hold's state on a day. */
export const holdColumns = (today: string, units: Money): Column<Hold>[] => [
  { id: 'account', title: 'Account', text: ({ accountNumber }) => accountNumber ?? '' },
  { id: 'class', title: 'Class', text: ({ securityCode }) => securityCode ?? 'Every class' },
  { id: 'held', title: 'Held back', right: true, text: heldIn(units) },
  { id: 'why', title: 'Reason', text: ({ reason }) => reason ?? '', width: 'minmax(180px, 2fr)' },
  { id: 'from', title: 'From', text: ({ validFrom }) => day(validFrom) },
  { id: 'until', title: 'Until', text: ({ validTo }) => day(validTo) || 'further notice' },
  {
    id: 'state',
    title: 'State',
    text: (row) => stateOf(row, today).text,
    cell: (row) => {
      const { tone, text } = stateOf(row, today)
      return <Tag tone={tone}>{text}</Tag>
    },
    width: '100px',
  },
]
