import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import type { Distribution } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { tellDone } from '../shared/view/Failure.tsx'

const effects: { [statusID: number]: string } = {
  2: 'The entitlements are kept as history, and the configuration can be changed again.',
  3: 'The payments are rolled back; the entitlements stay locked.',
  4: 'The units allotted are rolled back, and residuals are as they were before.',
}

/** Reverses the last stage. */
export function Reverse({ distribution }: { distribution: Distribution }) {
  const { name } = useLookups()
  const [asked, setAsked] = useState(false)
  const [reason, setReason] = useState('')
  const status = distribution.distributionStatusID ?? 0
  const { productID, corporateActionID, stageProgress: underWay } = distribution
  const what = underWay ? 'what is under way' : `“${name('DistributionStatus', status)}”`
  const reverse = useWrite('post', '/Distribution/Reverse', {
    onKept: () => setAsked(false),
    onDone: (_data, message) => {
      tellDone(message || 'The stage is taken back.')
      setAsked(false)
      setReason('')
    },
  })
  // A reversal under way cannot be reversed; one that stopped with an error can be started again.
  if (underWay?.stage.startsWith('Reverse') && !underWay.errorMessage) return null
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        Take back {what}
      </Button>
      <Confirm
        title={`Take back ${what}?`}
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() =>
          reverse.mutate({ productID, corporateActionID, fromStatusID: status, reason })
        }
        action="Take back"
        busy={reverse.isPending}
        error={reverse.error}
        danger
      >
        {underWay ? 'What was done so far is undone.' : effects[status]}
        <TextInput
          label="Reason"
          required
          mt="sm"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          data-autofocus
        />
      </Confirm>
    </>
  )
}
