import { Button } from '@mantine/core'
import { useRead } from '../shared/api/products.ts'
import type { Session } from '../shared/api/types.ts'
import { useDelete } from '../shared/api/write.ts'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { Tag } from '../shared/view/Status.tsx'

const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux']

/** "Chrome on Linux" from the user agent of a browser; for a program, the first word of it. */
function browserOf(userAgent: string): string {
  const browser = browsers.find(([mark]) => userAgent.includes(mark))?.[1]
  const system = systems.find((name) => userAgent.includes(name))
  if (!browser) return userAgent.split(/[\s/]/)[0] ?? ''
  return system ? `${browser} on ${system}` : browser
}

/** The user's sessions, each of which can be ended here. */
export function Sessions() {
  const { data = [], error } = useRead<Session[]>('/User/Session', { PageSize: 100 })
  const end = useDelete('/User/Session', { onDone: () => tellDone('The session is ended.') })
  const columns: Column<Session>[] = [
    { id: 'where', title: 'From', text: ({ address }) => address ?? '' },
    {
      id: 'with',
      title: 'With',
      text: ({ userAgent }) => userAgent ?? '',
      cell: ({ userAgent }) => <span title={userAgent ?? ''}>{browserOf(userAgent ?? '')}</span>,
    },
    { id: 'begun', title: 'Since', text: (row) => moment(row.createdDate) },
    { id: 'used', title: 'Last used', text: (row) => moment(row.lastUsedDate) },
    {
      id: 'end',
      title: 'End',
      text: () => '',
      cell: ({ sessionID, isCurrent }) =>
        isCurrent ? (
          <Tag tone="good">This one</Tag>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => end.mutate({ SessionID: sessionID ?? 0 })}
          >
            End
          </Button>
        ),
    },
  ]
  const problem = error ?? end.error
  return (
    <Card title="Signed in" padded={false}>
      {problem && <Failure error={problem} />}
      <Rows
        label="Sessions"
        columns={columns}
        rows={data}
        keyOf={({ sessionID }) => sessionID ?? 0}
      />
    </Card>
  )
}
