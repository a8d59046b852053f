import type { Money } from '../shared/api/money.ts'
import type { BizTransaction } from '../shared/api/types.ts'
import { day, price } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { Status } from '../shared/view/Status.tsx'

/** The columns of a list of transactions. */
export const transactionColumns = (money: Money, units: Money): Column<BizTransaction>[] => [
  { id: 'day', title: 'Day', text: (row) => day(row.transactionDate), width: '88px' },
  { id: 'type', title: 'What', text: (row) => row.typeName ?? '', width: 'minmax(126px, 1fr)' },
  {
    id: 'investor',
    title: 'Investor',
    text: (row) => row.bizEntityName ?? '',
    width: 'minmax(150px, 2fr)',
  },
  { id: 'account', title: 'Account', text: (row) => row.accountNumber ?? '', width: '80px' },
  { id: 'class', title: 'Class', text: (row) => row.securityCode ?? '', width: '58px' },
  {
    id: 'units',
    title: 'Units',
    right: true,
    text: (row) => units(row.quantity, row),
    width: 'minmax(108px, 1fr)',
  },
  {
    id: 'price',
    title: 'Price',
    right: true,
    text: (row) => price(row.investmentPrice),
    width: '62px',
  },
  { id: 'amount', title: 'Amount', right: true, text: (row) => money(row.amount, row) },
  {
    id: 'state',
    title: 'State',
    text: (row) => row.statusName ?? '',
    cell: (row) => <Status category="BizTransactionStatus" id={row.bizTransactionStatusID} />,
    width: '92px',
  },
  {
    id: 'external',
    title: 'External id',
    text: (row) => row.externalBizTransactionId ?? '',
    spare: true,
  },
  { id: 'id', title: 'Transaction id', text: (row) => String(row.bizTransactionID), spare: true },
]
