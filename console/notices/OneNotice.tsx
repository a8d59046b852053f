import { Button, Group, Stack } from '@mantine/core'
import { useCurrent } from '../shared/api/current.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { useMoney, useUnits } from '../shared/api/money.ts'
import type { BizEvent } from '../shared/api/types.ts'
import { day, moment } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { AccountLink } from '../shared/view/AccountLink.tsx'
import { Facts } from '../shared/view/Facts.tsx'
import { Status } from '../shared/view/Status.tsx'

export const isPending = ({ bizEventStatusID }: BizEvent) => bizEventStatusID === 1

type Props = { listed: BizEvent; onSettle: () => void; onCancel: () => void }

/** One notice, with the actions to settle or cancel it. */
export function OneNotice({ listed, onSettle, onCancel }: Props) {
  const key = { BizEventID: listed.bizEventID }
  const notice = useCurrent('/BizEvent', key, listed) ?? listed
  const { name } = useLookups()
  const may = useMay()
  const money = useMoney(notice)
  const units = useUnits(notice)
  return (
    <Stack>
      <Facts
        facts={[
          [
            'Investor',
            <AccountLink key="investor" number={notice.accountNumber}>
              {notice.bizEntityName}
            </AccountLink>,
          ],
          ['Account', notice.accountNumber],
          ['What', name('BizEventType', notice.bizEventTypeID)],
          ['Class', notice.securityCode],
          ['For', day(notice.bizEventDate)],
          ['Amount', money(notice.amount)],
          ['Units', units(notice.quantity)],
          ['State', <Status key="s" category="BizEventStatus" id={notice.bizEventStatusID} />],
          ['External id', notice.externalTransactionId],
          ['Comment', notice.comment],
          ['Entered', moment(notice.createdDate)],
        ]}
      />
      {isPending(notice) && (
        <Group>
          {may('BizTransaction.Write') && <Button onClick={onSettle}>Settle</Button>}
          {may('BizEvent.Write') && (
            <Button variant="default" onClick={onCancel}>
              Cancel the notice
            </Button>
          )}
        </Group>
      )}
    </Stack>
  )
}
