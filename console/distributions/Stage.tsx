import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { DistributionPreview } from '../../src/money/distribution/preview.ts'
import { api } from '../shared/api/client.ts'
import { useProduct } from '../shared/api/products.ts'
import type { Distribution } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { Edited } from '../shared/form/Edited.tsx'
import { DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import { count, day, money, units } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { Figure, Figures } from '../shared/view/Facts.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card, Loading } from '../shared/view/Page.tsx'
import { DistributionForm } from './DistributionForm.tsx'

type Props = { distribution: Distribution }

/** What is done next, and what it would do. */
export function Stage({ distribution }: Props) {
  const may = useMay()('Distribution.Write')
  const status = distribution.distributionStatusID
  if (status === 1) return <Declare distribution={distribution} may={may} />
  if (!may) return null
  if (status === 2) return <Pay distribution={distribution} />
  if (status === 3 && distribution.drpIndicatorID === 2)
    return <Reinvest distribution={distribution} />
  return null
}

const keyOf = ({ productID, corporateActionID }: Distribution) => ({ productID, corporateActionID })

type Preview = Static<typeof DistributionPreview>

function Declare({ distribution, may }: Props & { may: boolean }) {
  const { currency } = useProduct()
  const [mode, setMode] = useState<'edit' | 'declare'>()
  const preview = useQuery({
    queryKey: ['preview', distribution],
    queryFn: async () =>
      (await api.post<Preview>('/Distribution/Preview', keyOf(distribution))).data,
  })
  const declare = useWrite('post', '/Distribution/Declare', {
    onDone: (_data, message) => {
      tellDone(message || 'The distribution is declared.')
      setMode(undefined)
    },
  })
  if (mode === 'edit')
    return (
      <Edited<Distribution>
        path="/Distribution"
        params={{ CorporateActionID: distribution.corporateActionID }}
      >
        {(tagged) => <DistributionForm tagged={tagged} onDone={() => setMode(undefined)} />}
      </Edited>
    )
  return (
    <Card
      title="Preview"
      actions={
        may && (
          <>
            <Button variant="default" onClick={() => setMode('edit')}>
              Change
            </Button>
            <Button disabled={!preview.data} onClick={() => setMode('declare')}>
              Declare
            </Button>
          </>
        )
      }
    >
      {preview.error && <Failure error={preview.error} retry={() => void preview.refetch()} />}
      {preview.isPending && <Loading />}
      {preview.data && <Totals preview={preview.data} currency={currency} />}
      <Confirm
        title="Declare this distribution?"
        opened={mode === 'declare'}
        onClose={() => setMode(undefined)}
        onConfirm={() => declare.mutate(keyOf(distribution))}
        action="Declare"
        busy={declare.isPending}
        error={declare.error}
      >
        The entitlements of {count(preview.data?.accountCount ?? 0)} accounts as at{' '}
        {day(distribution.recordDate)} are locked: {money(preview.data?.grossAmount)} {currency}.
        Transactions entered later, even back-dated, do not change them.
      </Confirm>
    </Card>
  )
}

function Totals({ preview, currency }: { preview: Preview; currency: string }) {
  return (
    <Stack gap="sm">
      <Figures>
        <Figure label="Accounts" value={count(preview.accountCount)} />
        <Figure label="Units" value={units(preview.units)} />
        <Figure label={`Gross, ${currency}`} value={money(preview.grossAmount)} />
        <Figure label="Reinvested" value={money(preview.drpAmount)} />
        <Figure label="Cash" value={money(preview.cashAmount)} />
      </Figures>
      {preview.exceptionCount > 0 && (
        <Text size="sm">
          {count(preview.exceptionCount)} {preview.exceptionCount === 1 ? 'account' : 'accounts'} to
          look at: {preview.exceptions.slice(0, 6).map(exception).join('; ')}
          {preview.exceptionCount > 6 && '; …'}
        </Text>
      )}
    </Stack>
  )
}

const reasons: { [code: string]: string } = {
  no_payment_detail: 'has no payment details',
  closed_account: 'is closed',
}
const exception = ({ accountNumber, code }: { accountNumber: string; code: string }) =>
  `${accountNumber} ${reasons[code] ?? code}`

function Pay({ distribution }: Props) {
  const [asked, setAsked] = useState(false)
  const pay = useWrite('post', '/Distribution/Payment', {
    onDone: (_data, message) => tellDone(message || 'The cash is posted.'),
  })
  return (
    <Card title="Next: pay">
      <Group justify="space-between">
        <Text size="sm">
          Posts the cash of each account as a transaction of {day(distribution.paymentDate)}. What
          goes to the reinvestment plan is held until units are allotted.
        </Text>
        <Button onClick={() => setAsked(true)}>Pay</Button>
      </Group>
      <Confirm
        title="Post the payments?"
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => pay.mutate(keyOf(distribution))}
        action="Pay"
        busy={pay.isPending}
        error={pay.error}
      >
        A distribution payment is posted to every account that is paid in cash.
      </Confirm>
    </Card>
  )
}

function Reinvest({ distribution }: Props) {
  const [drpPrice, setPrice] = useState(distribution.drpPrice ?? '')
  const [date, setDate] = useState(distribution.drpAllotmentDate ?? '')
  const allot = useWrite('post', '/Distribution/DrpAllotment', {
    onDone: (_data, message) => tellDone(message || 'The units are allotted.'),
  })
  return (
    <Card title="Next: reinvest">
      <Stack gap="sm">
        {allot.error && <Failure error={allot.error} />}
        <Row>
          <DecimalField
            label="Price of a unit"
            value={drpPrice}
            onChange={(event) => setPrice(event.currentTarget.value)}
          />
          <DateField
            label="Allotment date"
            value={date}
            onChange={(event) => setDate(event.currentTarget.value)}
          />
        </Row>
        <Group justify="flex-end">
          <Button
            loading={allot.isPending}
            onClick={() =>
              allot.mutate({ ...keyOf(distribution), drpPrice, drpAllotmentDate: date })
            }
          >
            Allot the units
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}
