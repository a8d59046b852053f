import { Button, Group, NumberInput, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAnew } from '../shared/api/anew.ts'
import { useCurrency, useMoney } from '../shared/api/money.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import { useSession } from '../shared/api/session.ts'
import type { PaymentRun } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { useGo } from '../shared/form/leave.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { counted, day } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { tellDone } from '../shared/view/Failure.tsx'
import { Card } from '../shared/view/Page.tsx'
import { readBy } from './key.ts'

type Props = { run: PaymentRun }

/** The next step of a payment run, and who may take it. */
export function NextStep({ run }: Props) {
  const may = useMay()
  if (run.state === 'Draft') return <Approve run={run} />
  if (!may('PaymentRun.Write')) return null
  return run.state === 'Approved' ? <Send run={run} /> : <Returned run={run} />
}

function Approve({ run }: Props) {
  const may = useMay()
  const { user } = useSession()
  const currency = useCurrency()(run)
  const money = useMoney(run)
  const [asked, setAsked] = useState(false)
  const anew = useAnew(useRead('/PaymentRun', readBy(run.productID, run.paymentRunID)))
  const { paymentRunID, payments } = run
  const approve = useWrite('post', '/PaymentRun/Approve', {
    onKept: () => setAsked(false),
    onDone: () => {
      tellDone('The run is approved, and its bank file is ready.')
      setAsked(false)
    },
  })
  const own = run.createdByUserID === user?.userID
  return (
    <Card title="Next: approve">
      <Group justify="space-between">
        <Text size="sm">
          {own && 'You made this draft, so somebody else approves it.'}
          {!own &&
            (may('PaymentRun.Approve')
              ? 'Check the totals and the exceptions. Approving makes the bank file.'
              : 'It waits for somebody with the permission PaymentRun.Approve.')}
        </Text>
        <Group gap="xs">
          {may('PaymentRun.Write') && <RemoveDraft run={run} />}
          {may('PaymentRun.Approve') && !own && (
            <Button
              onClick={() => {
                // A corrected or rolled-back transaction leaves the draft, so read the run again:
                // what the user approves must be what is shown.
                anew.readAnew()
                setAsked(true)
              }}
            >
              Approve
            </Button>
          )}
        </Group>
      </Group>
      <Confirm
        title="Approve this run?"
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => approve.mutate({ paymentRunID })}
        action="Approve"
        busy={approve.isPending}
        error={approve.error}
        anew={anew}
      >
        {counted(payments?.count ?? 0, 'payment')}, {money(payments?.amount)} {currency} in all, on{' '}
        {day(run.processingDate)}. Transactions that it pays can then no longer be rolled back.
      </Confirm>
    </Card>
  )
}

function RemoveDraft({ run }: Props) {
  const { slug } = useProduct()
  const navigate = useNavigate()
  return (
    <Remove
      path="/PaymentRun"
      params={{ PaymentRunID: run.paymentRunID ?? 0 }}
      what="the draft"
      done="The draft is deleted. Its amounts are payable again."
      onDone={() => void navigate({ to: '/$product/payments', params: { product: slug } })}
    >
      The next run can pay these amounts.
    </Remove>
  )
}

function Send({ run: { paymentRunID } }: Props) {
  const [asked, setAsked] = useState(false)
  const send = useWrite('post', '/PaymentRun/Sent', {
    onDone: () => tellDone('The run is sent.'),
    onKept: () => setAsked(false),
  })
  return (
    <Card title="Next: give the file to the bank">
      <Group justify="space-between">
        <Text size="sm">Download the file below, hand it to the bank, then say so here.</Text>
        <Button onClick={() => setAsked(true)}>The bank has it</Button>
      </Group>
      <Confirm
        title="The bank has the file?"
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => send.mutate({ paymentRunID })}
        action="It is sent"
        busy={send.isPending}
        error={send.error}
      >
        All payments of the run then wait for the bank’s results.
      </Confirm>
    </Card>
  )
}

/** A year: the time most rules give people to claim returned money. */
const usualDays = 365

const howTo =
  'Choose payments below to record what the bank did. Returned payments can be paid again.'

/**
 * The actions on returned payments: pay them again to the present bank details, or mark them
 * unclaimed.
 */
function Returned({ run: { paymentRunID, state } }: Props) {
  const { slug } = useProduct()
  const go = useGo()
  const [asked, setAsked] = useState<'reissue' | 'unclaimed'>()
  const [days, setDays] = useState(usualDays)
  const close = () => setAsked(undefined)
  const reissue = useWrite<PaymentRun[]>('post', '/PaymentRun/Reissue', {
    onKept: close,
    onDone: ([made]) => {
      tellDone('A new draft pays the returned payments again.')
      close()
      go(`/${slug}/payments/${made?.paymentRunID ?? ''}`)
    },
  })
  const unclaimed = useWrite('post', '/PaymentRun/Unclaimed', {
    onKept: close,
    onDone: () => {
      tellDone('The returned payments are marked as unclaimed.')
      close()
    },
  })
  // No payment of a closed run is open. The last step closes the run before its own question does.
  if (state === 'Closed' && !asked) return null
  return (
    <Card title="Results and returns">
      <Group justify="space-between">
        <Text size="sm">{howTo}</Text>
        <Group gap="xs">
          <Button variant="default" onClick={() => setAsked('unclaimed')}>
            Unclaimed…
          </Button>
          <Button variant="default" onClick={() => setAsked('reissue')}>
            Reissue returned
          </Button>
        </Group>
      </Group>
      <Confirm
        title="Pay the returned payments again?"
        opened={asked === 'reissue'}
        onClose={close}
        onConfirm={() => reissue.mutate({ paymentRunID })}
        action="Make the draft"
        busy={reissue.isPending}
        error={reissue.error}
      >
        A new draft pays every returned payment of this run again, to the bank details that the
        register has now. Correct those first.
      </Confirm>
      <Confirm
        title="Mark returned payments as unclaimed?"
        opened={asked === 'unclaimed'}
        onClose={close}
        onConfirm={() => unclaimed.mutate({ paymentRunID, days })}
        action="Mark as unclaimed"
        busy={unclaimed.isPending}
        error={unclaimed.error}
      >
        <NumberInput
          label="Returned at least so many days ago"
          min={0}
          max={36_500}
          value={days}
          onChange={(value) => setDays(Number(value))}
        />
      </Confirm>
    </Card>
  )
}
