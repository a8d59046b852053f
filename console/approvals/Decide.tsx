import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useIsMutating, useQueryClient } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { useCurrent } from '../shared/api/current.ts'
import { useSession } from '../shared/api/session.ts'
import type { Approval } from '../shared/api/types.ts'
import { stays, useWrite } from '../shared/api/write.ts'
import { moment } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { Changes } from '../shared/view/Changes.tsx'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { PageLink } from '../shared/view/PageLink.tsx'
import { approvedBy, countedOf, permissionFor, resourceName } from './words.ts'

type Props = { approval: Approval; onDone: () => void }

/**
 * One pending change with its values before and after, and the decision for anyone but the
 * requester.
 */
export function Decide({ listed, onDone }: { listed: Approval; onDone: () => void }) {
  const key = { ApprovalID: listed.approvalID }
  const approval = useCurrent<Approval>('/Approval', key, listed)
  if (!approval) return <Told>You may not see it any more.</Told>
  const isPending = approval.state === 'Pending'
  return (
    <Stack>
      {!isPending && listed.state === 'Pending' && <Meanwhile state={approval.state ?? ''} />}
      <Facts
        facts={[
          [
            resourceName(approval.resource),
            approval.resourceIDs.length > 0 ? <Records key="records" approval={approval} /> : '',
          ],
          ['State', approval.state],
          ['Asked by', approval.username],
          ['Asked', moment(approval.createdDate)],
          ['Approved by', approvedBy(approval)],
          ['Until', isPending ? moment(approval.expiresDate) : ''],
          ['Decided', moment(approval.decidedDate)],
          ['Reason', approval.reason],
        ]}
      />
      <Changes changes={approval.changes} />
      {isPending && <Decision approval={approval} onDone={onDone} />}
    </Stack>
  )
}

/**
 * A note that somebody else decided meanwhile; hidden while the user's own decision is being sent.
 */
function Meanwhile({ state }: { state: string }) {
  const isOwn = useIsMutating() > 0
  const become = state === 'Expired' ? 'expired' : `been ${state.toLowerCase()}`
  return isOwn ? null : (
    <Alert color="yellow" variant="light" icon={<Icon name="alert" />} role="status">
      Meanwhile it has {become}: nothing is left to do here.
    </Alert>
  )
}

/** The page paths of resources whose records have pages of their own. */
const pages: { [resource: string]: string } = {
  BizEntity: 'investors',
  Distribution: 'distributions',
}

/** An id that nobody takes for a number of records. */
const numbered = (id: number) => `No. ${id}`

/** The ids of the records that would change, linked to their pages where they have one. */
function Records({ approval: { resource, resourceIDs, productID } }: { approval: Approval }) {
  const path = productID === null ? undefined : pages[resource ?? '']
  const shown = resourceIDs.slice(0, 50)
  if (!path) return shown.map(numbered).join(', ')
  return shown.map((id, i) => (
    <Fragment key={id}>
      {i > 0 && ', '}
      <PageLink to={`/${productID}/${path}/${id}`}>{numbered(id)}</PageLink>
    </Fragment>
  ))
}

/** The actions the user may take on the change, or the reason why there are none. */
function Decision({ approval, onDone }: Props) {
  const { user } = useSession()
  const may = useMay()
  const { operation, resource, approvals, requiredApprovals } = approval
  const needed = permissionFor(operation ?? '', resource ?? '')
  const lacked = (['Approval.Write', needed] as const).find((one) => !may(one))
  if (approval.userID === user?.userID)
    return may('Approval.Write') ? (
      <Cancel approval={approval} onDone={onDone} />
    ) : (
      <Told>You asked for this, so somebody else must decide.</Told>
    )
  if (lacked) return <Told>To decide, you need the permission {lacked}.</Told>
  const isEnough = countedOf(approval).length >= (requiredApprovals ?? 1)
  if (!isEnough && approvals.some(({ userID }) => userID === user?.userID))
    return <Told>You have approved it. Somebody else must approve it too.</Told>
  return (
    <>
      {isEnough && (
        <Told>It has enough approvals by now. Approve it once more to carry it out.</Told>
      )}
      <Judge approval={approval} onDone={onDone} />
    </>
  )
}

const Told = ({ children }: { children: ReactNode }) => (
  <Text size="sm" className="quiet">
    {children}
  </Text>
)

const outcomes: { [state: string]: string } = {
  Rejected: 'It is rejected. Nothing changes.',
  Pending: 'You have approved it. It waits for another approval.',
}

function Judge({ approval: { approvalID }, onDone }: Props) {
  const client = useQueryClient()
  const [reason, setReason] = useState('')
  // A refused decision mostly means that the change was decided meanwhile, so read everything
  // again.
  const onFailed = () => void client.invalidateQueries()
  const finish = ([decided]: Approval[], message: string | null) => {
    // Only the service knows whether the approved change is done or still under way.
    tellDone(outcomes[decided?.state ?? ''] ?? message ?? 'Approved.')
    onDone()
  }
  const approve = useWrite<Approval[]>('post', '/Approval/Approve', {
    onDone: finish,
    onKept: stays,
    onFailed,
  })
  const reject = useWrite<Approval[]>('post', '/Approval/Reject', {
    onDone: finish,
    onKept: stays,
    onFailed,
  })
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
    onKept: stays,
    onDone: () => {
      tellDone('It is cancelled. Nothing changes.')
      onDone()
    },
  })
  return (
    <Group justify="space-between">
      <Told>You asked for this, so somebody else must decide.</Told>
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
