import { Button } from '@mantine/core'
import { useState } from 'react'
import { useProductNames } from '../shared/api/products.ts'
import type { User } from '../shared/api/types.ts'
import { Edited } from '../shared/form/Edited.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Active } from '../shared/view/Status.tsx'
import { Roles } from './Roles.tsx'
import { UserForm } from './UserForm.tsx'

const columnsOf = (names: ReturnType<typeof useProductNames>): Column<User>[] => [
  { id: 'name', title: 'Username', text: ({ username }) => username ?? '' },
  {
    id: 'role',
    title: 'Role',
    text: ({ role, permissions }) => role ?? `${permissions?.length ?? 0} permissions`,
  },
  {
    id: 'products',
    title: 'Products',
    text: ({ productIDs }) => names(productIDs),
    width: 'minmax(140px, 2fr)',
  },
  {
    id: 'state',
    title: 'State',
    text: ({ isActive }) => (isActive ? 'Active' : 'Inactive'),
    cell: ({ isActive }) => <Active on={isActive} />,
  },
  { id: 'seen', title: 'Last signed in', text: (row) => moment(row.lastLoginDate) || 'never' },
  { id: 'created', title: 'Created', text: (row) => moment(row.createdDate), spare: true },
]

/** The users and their rights. */
export function Users() {
  const may = useMay()
  const [edited, setEdited] = useState<User | 'new'>()
  const close = () => setEdited(undefined)
  const [roles, setRoles] = useState(false)
  const actions = (
    <>
      <Button variant="default" onClick={() => setRoles(true)}>
        Roles
      </Button>
      {may('User.Write') && (
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEdited('new')}>
          New user
        </Button>
      )}
    </>
  )
  return (
    <Page title="Users" actions={actions}>
      <ListView<User>
        id="users"
        label="Users"
        path="/User"
        params={{}}
        filters={[{ key: 'Username', label: 'Username', kind: 'text' }]}
        columns={columnsOf(useProductNames())}
        {...(may('User.Write') && { onOpen: setEdited })}
        empty={<Empty title="No user yet" />}
      />
      <FormDrawer opened={roles} onClose={() => setRoles(false)} size="lg" title="Roles">
        <Roles />
      </FormDrawer>
      <FormDrawer
        opened={edited !== undefined}
        onClose={close}
        title={edited === 'new' ? 'New user' : 'User'}
      >
        {edited === 'new' && <UserForm onDone={close} />}
        {edited && edited !== 'new' && (
          <Edited<User> path="/User" params={{ UserID: edited.userID }}>
            {(tagged) => <UserForm tagged={tagged} onDone={close} />}
          </Edited>
        )}
      </FormDrawer>
    </Page>
  )
}
