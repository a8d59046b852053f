import { Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isWaiting } from '../../client/src/waiting.ts'
import { api, newIntent } from '../shared/api/client.ts'
import { useProduct } from '../shared/api/products.ts'
import type { BizEvent } from '../shared/api/types.ts'
import { useWrite, waits } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { DateField } from '../shared/form/fields.tsx'
import { Insist, useInsists } from '../shared/form/Insist.tsx'
import { tellDone } from '../shared/view/Failure.tsx'

type Props = { events: BizEvent[]; onDone: () => void; onClose: () => void }

const deposit = 1
const redemption = 2

/**
 * Whether a request was carried out at once or waits for approval; undefined if it was not sent.
 */
type Done = boolean | undefined

/** An approval rule may hold back the deposits and not the redemptions, or the reverse. */
const outcomeOf = (paidIn: Done, paidOut: Done) => {
  if (paidIn !== false && paidOut !== false) return 'The notices are settled.'
  const settled = (paidIn && 'deposits') || (paidOut && 'redemptions')
  if (!settled) return waits
  return `The ${settled} are settled; the others wait until somebody else approves them.`
}

/**
 * Posts the announced transactions at the price of a day: one request for each kind, which posts
 * all of them or none.
 */
export function SettleNotices({ events, onDone, onClose }: Props) {
  const client = useQueryClient()
  const { today } = useProduct()
  const [date, setDate] = useState(today())
  const [insists, setInsists] = useInsists(date)
  const [intent] = useState(newIntent)
  /** The outcome of each request that succeeded, so that a retry sends only the other one. */
  const [answered] = useState(() => new Map<string, boolean>())
  const bodies = (typeID: number) =>
    events
      .filter(({ bizEventTypeID }) => bizEventTypeID === typeID)
      .map(({ bizEventID, productID }) => ({
        ...{ productID, bizEventID, transactionDate: date },
        ...(insists && { confirm: true }),
      }))
  const post = async (path: string, rows: object[]): Promise<Done> => {
    if (rows.length === 0) return undefined
    const before = answered.get(path)
    if (before !== undefined) return before
    const { data } = await api.post(path, rows, `${intent}-${path}-${date}-${insists}`)
    answered.set(path, !isWaiting(data))
    return !isWaiting(data)
  }
  const settle = useMutation({
    mutationFn: async () => {
      const paidIn = await post('/BizTransaction/Deposit', bodies(deposit))
      const paidOut = await post('/BizTransaction/Redemption', bodies(redemption))
      return outcomeOf(paidIn, paidOut)
    },
    onSuccess: async (outcome) => {
      await client.invalidateQueries()
      tellDone(outcome)
      onDone()
    },
    onError: () => client.invalidateQueries(),
  })
  const others = events.length - bodies(deposit).length - bodies(redemption).length
  return (
    <Confirm
      title={`Settle ${events.length} ${events.length === 1 ? 'notice' : 'notices'}?`}
      opened
      onClose={() => (answered.size > 0 ? onDone() : onClose())}
      onConfirm={() => settle.mutate()}
      action="Settle"
      busy={settle.isPending}
    >
      <Stack gap="sm">
        <Text size="sm">
          Each becomes a transaction of its account, at the price of the day; the deposits together,
          then the redemptions together.
          {others > 0 && ` ${others} of other kinds are left alone.`}
        </Text>
        <DateField
          label="Price and transaction date"
          value={date}
          onChange={(event) => setDate(event.currentTarget.value)}
        />
        <Insist error={settle.error} insists={insists} onChange={setInsists} />
      </Stack>
    </Confirm>
  )
}

export function CancelNotices({ events, onDone, onClose }: Props) {
  const [comment, setComment] = useState('')
  const cancel = useWrite('put', '/BizEvent/Cancel', {
    onKept: onDone,
    onDone: () => {
      tellDone('The notices are cancelled.')
      onDone()
    },
  })
  const bizEventIDs = events.map(({ bizEventID }) => bizEventID)
  return (
    <Confirm
      title={`Cancel ${events.length} ${events.length === 1 ? 'notice' : 'notices'}?`}
      opened
      onClose={onClose}
      onConfirm={() => cancel.mutate({ bizEventIDs, comment })}
      action="Cancel the notices"
      busy={cancel.isPending}
      error={cancel.error}
      danger
    >
      <TextInput
        label="Reason"
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
        data-autofocus
      />
    </Confirm>
  )
}
