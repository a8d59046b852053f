import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useCurrent } from '../shared/api/current.ts'
import { useMoney, useUnits } from '../shared/api/money.ts'
import type { BizTransaction } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { Edited } from '../shared/form/Edited.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { pastParams, usePast } from '../shared/form/Past.tsx'
import { day, moment, price } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { tellDone } from '../shared/view/Failure.tsx'
import { Status } from '../shared/view/Status.tsx'
import { Correction } from './Correction.tsx'
import { Later } from './Later.tsx'

type Props = { transaction: BizTransaction | undefined; onClose: () => void }

const rolledBack = 3
/** A payment of residuals: it can be rolled back, but nothing of it can be corrected. */
const residualPayment = 13

/** One transaction, with the actions on it. */
export function TransactionDrawer({ transaction, onClose }: Props) {
  return (
    <FormDrawer
      opened={transaction !== undefined}
      onClose={onClose}
      title={transaction ? `${transaction.typeName} ${transaction.bizTransactionID}` : ''}
    >
      {transaction && <Known listed={transaction} onClose={onClose} />}
    </FormDrawer>
  )
}

/** Conversions and transfers, in the ids of their two sides. */
const twoSided = [4, 5, 8, 9]

/** What a rollback does, by the kind of transaction. */
function effectOf({ bizTransactionTypeID: type }: BizTransaction): string {
  const stays = 'The transaction stays on record, but no longer counts.'
  if (type === residualPayment) return `${stays} Its money is kept for the next reinvestment again.`
  const both = type && twoSided.includes(type) ? ' Its other side is rolled back with it.' : ''
  return (
    `${stays}${both} If it settled a notice, the notice is pending again. A rollback is refused if ` +
    'later transactions would lack units.'
  )
}

function Known({ listed, onClose }: { listed: BizTransaction; onClose: () => void }) {
  const [past] = usePast()
  const key = { BizTransactionID: listed.bizTransactionID, ...pastParams(past) }
  const transaction = useCurrent<BizTransaction>('/BizTransaction', key, listed) ?? listed
  const may = useMay()
  const money = useMoney(transaction)
  const units = useUnits(transaction)
  const [mode, setMode] = useState<'correct' | 'rollback'>()
  const [reason, setReason] = useState('')
  const rollback = useWrite('put', '/BizTransaction/Rollback', {
    onKept: onClose,
    onDone: () => {
      tellDone('The transaction is rolled back and no longer counts.')
      onClose()
    },
  })
  const { bizTransactionID, corporateActionID, bizTransactionStatusID } = transaction
  const open = bizTransactionStatusID !== rolledBack && !corporateActionID
  if (mode === 'correct')
    return (
      <Edited<BizTransaction>
        path="/BizTransaction"
        params={{ BizTransactionID: bizTransactionID }}
      >
        {(tagged) => <Correction tagged={tagged} onDone={onClose} />}
      </Edited>
    )
  return (
    <Stack>
      <Facts
        facts={[
          ['Investor', transaction.bizEntityName],
          ['Account', transaction.accountNumber],
          ['Class', `${transaction.securityCode ?? ''} ${transaction.investmentName ?? ''}`],
          ['Day', day(transaction.transactionDate)],
          ['Units', units(transaction.quantity)],
          ['Price', price(transaction.investmentPrice)],
          ['Amount', money(transaction.amount)],
          [
            'State',
            <Status key="state" category="BizTransactionStatus" id={bizTransactionStatusID} />,
          ],
          ['Distribution', transaction.corporateActionName],
          ['Belongs to', transaction.parentBizTransactionID],
          ['External id', transaction.externalBizTransactionId],
          ['Comment', transaction.comment],
          ['Entered', moment(transaction.createdDate)],
          ['Changed', moment(transaction.updatedDate)],
        ]}
      />
      {may('BizTransaction.Write') && open && (
        <Group>
          {transaction.bizTransactionTypeID !== residualPayment && (
            <Button variant="default" onClick={() => setMode('correct')}>
              Correct
            </Button>
          )}
          <Button variant="default" color="red" onClick={() => setMode('rollback')}>
            Roll back
          </Button>
        </Group>
      )}
      <Confirm
        title="Roll back this transaction?"
        opened={mode === 'rollback'}
        onClose={() => setMode(undefined)}
        onConfirm={() => rollback.mutate({ bizTransactionID, reason })}
        action="Roll back"
        busy={rollback.isPending}
        error={rollback.error}
        danger
      >
        <Later transaction={transaction} />
        {effectOf(transaction)}
        <TextInput
          label="Reason"
          description="Kept in the audit trail."
          mt="sm"
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          data-autofocus
        />
      </Confirm>
    </Stack>
  )
}
