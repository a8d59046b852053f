import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useRefresh } from '../shared/api/refresh.ts'
import type { Distribution } from '../shared/api/types.ts'
import { stays, useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import { counted, day, moment } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card } from '../shared/view/Page.tsx'
import { Declare } from './Declare.tsx'
import { keyOf } from './key.ts'
import { isReinvested } from './words.ts'

type Props = { distribution: Distribution }

/** The stage under way with its progress, or else the next stage with its preview. */
export function Stage({ distribution }: Props) {
  const may = useMay()('Distribution.Write')
  const { distributionStatusID: status, stageProgress } = distribution
  if (stageProgress) return <UnderWay progress={stageProgress} />
  if (status === 1) return <Declare distribution={distribution} may={may} />
  if (!may) return null
  if (status === 2) return <Pay distribution={distribution} />
  if (status === 3 && isReinvested(distribution)) return <Reinvest distribution={distribution} />
  return null
}

const deeds: { [stage: string]: string } = {
  Declare: 'Declaring',
  Payment: 'Paying',
  DrpAllotment: 'Allotting units',
  ReverseDeclare: 'Taking back the declaration',
  ReversePayment: 'Taking back the payment',
  ReverseDrpAllotment: 'Taking back the units',
}

/** The progress of a stage; it continues in the service whether or not this page is open. */
function UnderWay({ progress }: { progress: NonNullable<Distribution['stageProgress']> }) {
  const { stage, progressPercent, accountCount, startedDate, errorMessage } = progress
  useRefresh(errorMessage === null)
  return (
    <Card title={deeds[stage] ?? stage}>
      <Stack gap="sm">
        {errorMessage && <Failure error={new Error(errorMessage)} />}
        <Text size="sm">
          {counted(accountCount, 'account')}, since {moment(startedDate)}. You can leave this page;
          it continues.
        </Text>
        <Progress value={progressPercent} aria-label="Progress" animated={!errorMessage} />
      </Stack>
    </Card>
  )
}

function Pay({ distribution }: Props) {
  const [asked, setAsked] = useState(false)
  const pay = useWrite('post', '/Distribution/Payment', {
    onKept: () => setAsked(false),
    onDone: (_data, message) => tellDone(message || 'The cash is posted.'),
  })
  return (
    <Card title="Next: pay">
      <Group justify="space-between">
        <Text size="sm">
          Posts the cash of each account as a transaction of {day(distribution.paymentDate)}. Money
          to be reinvested is held until units are allotted.
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
    onKept: stays,
    onDone: (_data, message) => tellDone(message || 'The units are allotted.'),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    allot.mutate({ ...keyOf(distribution), drpPrice, drpAllotmentDate: date })
  }
  return (
    <Card title="Next: reinvest">
      <Stack gap="sm" component="form" onSubmit={submit}>
        {allot.error && <Failure error={allot.error} />}
        <Row>
          <DecimalField label="Price of a unit" value={drpPrice} onChange={setPrice} />
          <DateField
            label="Allotment date"
            value={date}
            onChange={(event) => setDate(event.currentTarget.value)}
          />
        </Row>
        <Group justify="flex-end">
          <Button type="submit" loading={allot.isPending}>
            Allot the units
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}
