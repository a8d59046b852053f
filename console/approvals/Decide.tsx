import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSession } from '../shared/api/session.ts'
import type { Approval } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { moment } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { Changes } from '../shared/view/Changes.tsx'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { approval: Approval; onDone: () => void }

/** One change that waits: before and after, and the decision of whoever did not ask for it. */
export function Decide({ approval, onDone }: Props) {
  const { user } = useSession()
  const may = useMay()
  const isPending = approval.state === 'Pending'
  const own = approval.userID === user?.userID
  return (
    <Stack>
      <Facts
        facts={[
          ['Operation', approval.operation],
          ['Asked by', approval.username],
          ['Asked', moment(approval.createdDate)],
          ['Until', isPending ? moment(approval.expiresDate) : ''],
          ['Decided', moment(approval.decidedDate)],
          ['Reason', approval.reason],
        ]}
      />
      <Changes changes={approval.changes} />
      {isPending && own && <Cancel approval={approval} onDone={onDone} />}
      {isPending && !own && may('Approval.Write') && <Judge approval={approval} onDone={onDone} />}
    </Stack>
  )
}

function Judge({ approval: { approvalID }, onDone }: Props) {
  const [reason, setReason] = useState('')
  const finish = (words: string) => () => {
    tellDone(words)
    onDone()
  }
  const approve = useWrite('post', '/Approval/Approve', { onDone: finish('It is approved.') })
  const reject = useWrite('post', '/Approval/Reject', { onDone: finish('It is rejected.') })
  const error = approve.error ?? reject.error
  return (
    <Stack gap="sm">
      {error && <Failure error={error} />}
      <TextInput
        label="Reason, if you reject it"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Group justify="flex-end">
        <Button
          variant="default"
          disabled={!reason.trim()}
          loading={reject.isPending}
          onClick={() => reject.mutate({ approvalID, reason })}
        >
          Reject
        </Button>
        <Button loading={approve.isPending} onClick={() => approve.mutate({ approvalID })}>
          Approve
        </Button>
      </Group>
    </Stack>
  )
}

function Cancel({ approval: { approvalID }, onDone }: Props) {
  const cancel = useWrite('post', '/Approval/Cancel', {
    onDone: () => {
      tellDone('It is cancelled, and nothing changes.')
      onDone()
    },
  })
  return (
    <Group justify="space-between">
      <Text size="sm" className="quiet">
        You asked for it, so somebody else decides.
      </Text>
      {cancel.error && <Failure error={cancel.error} />}
      <Button
        variant="default"
        loading={cancel.isPending}
        onClick={() => cancel.mutate({ approvalID })}
      >
        Cancel the request
      </Button>
    </Group>
  )
}
