import { Box, Text } from '@mantine/core'
import { type Money, useUnits } from '../shared/api/money.ts'
import { useRead } from '../shared/api/products.ts'
import { atOnce } from '../shared/api/session.ts'
import type { BizTransaction } from '../shared/api/types.ts'
import { count, day } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { Answer } from '../shared/view/Answer.tsx'
import { Rows } from '../shared/view/Rows.tsx'

const most = 100
const shown = 5
const rolledBack = 3

const columnsIn = (units: Money): Column<BizTransaction>[] => [
  { id: 'what', title: 'Posted later', text: ({ typeName }) => typeName ?? '' },
  { id: 'day', title: 'Day', text: (row) => day(row.transactionDate) },
  { id: 'units', title: 'Units', right: true, text: (row) => units(row.quantity, row) },
]

/** The later transactions of the same holding, which depend on the units of this one. */
export function Later({ transaction }: { transaction: BizTransaction }) {
  const { bizTransactionID, productID, accountID, investmentID, transactionDate } = transaction
  const read = useRead<BizTransaction[]>('/BizTransaction', {
    ProductID: productID ?? 0,
    AccountID: accountID ?? 0,
    InvestmentID: investmentID ?? 0,
    'TransactionDate.greaterThanOrEqual': (transactionDate ?? '').slice(0, 10),
    PageSize: most,
  })
  const isLater = (one: BizTransaction) =>
    one.bizTransactionID !== bizTransactionID &&
    one.parentBizTransactionID !== bizTransactionID &&
    one.bizTransactionStatusID !== rolledBack
  return (
    <Box mb="sm">
      <Answer of={read}>
        {(data) => <Found later={data.filter(isLater)} isAll={data.length < atOnce(most)} />}
      </Answer>
    </Box>
  )
}

function Found({ later, isAll }: { later: BizTransaction[]; isAll: boolean }) {
  const units = useUnits()
  if (later.length === 0) return <Text size="sm">Nothing was posted to this holding later.</Text>
  return (
    <>
      <Rows
        label="Posted later"
        columns={columnsIn(units)}
        rows={later.slice(0, shown)}
        keyOf={(one) => one.bizTransactionID ?? 0}
      />
      {later.length > shown && (
        <Text size="xs" className="quiet" mt={4}>
          And {count(later.length - shown)}
          {isAll ? '' : ' or more'} more.
        </Text>
      )}
    </>
  )
}
