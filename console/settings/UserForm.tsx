import {
  Button,
  Group,
  MultiSelect,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Role } from '../../src/platform/permission.ts'
import { useProductOptions } from '../shared/api/products.ts'
import { useSession } from '../shared/api/session.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { User } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { tagged?: Tagged<User>; onDone: () => void }

/** The choice of permissions of the user's own instead of a role. */
const own = 'own'

const roles: { value: Role | typeof own; label: string }[] = [
  { value: 'Administrator', label: 'Administrator: everything' },
  { value: 'Operator', label: 'Operator: the register, but no users' },
  { value: 'ReadOnly', label: 'Read only' },
  { value: own, label: 'Permissions of their own' },
]

export function UserForm({ tagged, onDone }: Props) {
  const user = tagged?.record
  const form = useForm({
    initialValues: {
      username: user?.username ?? '',
      password: '',
      role: user ? (user.role ?? own) : 'Operator',
      permissions: user?.permissions ?? [],
      allProducts: user ? user.productIDs === null : true,
      productIDs: (user?.productIDs ?? []).map(String),
      isActive: user?.isActive ?? true,
    },
  })
  const save = useWrite<User[]>(user ? 'put' : 'post', '/User', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone(user ? 'The user is saved.' : 'The user is created.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const products = useProductOptions()
  const mine = useSession().user?.permissions ?? []
  const submit = form.onSubmit(
    ({ password, role, permissions, allProducts, productIDs, ...rest }) =>
      save.mutate({
        ...rest,
        userID: user?.userID,
        ...(password && { password }),
        ...(role === own ? { permissions } : { role }),
        productIDs: allProducts ? null : productIDs.map(Number),
      }),
  )
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <TextInput
          label="Username"
          required
          autoComplete="off"
          {...form.getInputProps('username')}
        />
        <PasswordInput
          label={user ? 'New password' : 'Password'}
          description={user ? 'Left empty, the password stays.' : 'At least 12 characters.'}
          required={!user}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          {...form.getInputProps('password')}
        />
        <Select
          label="Role"
          data={roles}
          allowDeselect={false}
          required
          {...form.getInputProps('role')}
        />
        {form.values.role === own && (
          <MultiSelect
            label="Permissions"
            description="Never more than your own."
            data={mine}
            searchable
            {...form.getInputProps('permissions')}
          />
        )}
        <Switch
          label="All products, later ones too"
          {...form.getInputProps('allProducts', { type: 'checkbox' })}
        />
        {!form.values.allProducts && (
          <MultiSelect
            label="Products"
            data={products}
            searchable
            {...form.getInputProps('productIDs')}
          />
        )}
        <Switch
          label="Active"
          description="An inactive user is signed out at once, everywhere."
          {...form.getInputProps('isActive', { type: 'checkbox' })}
        />
        <Group justify="flex-end" mt="xs">
          <Button type="submit" loading={save.isPending}>
            {user ? 'Save' : 'Make the user'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
