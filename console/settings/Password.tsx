import { Button, Group, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { api } from '../shared/api/client.ts'
import { renew } from '../shared/api/session.ts'
import { useIntent } from '../shared/api/write.ts'
import { Row } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card } from '../shared/view/Page.tsx'

const eye = { 'aria-label': 'Show the password' }

const blank = { currentPassword: '', newPassword: '' }

/**
 * Changes the user's own password; this needs the present one and ends all of the user's sessions.
 */
export function Password() {
  const form = useForm({ initialValues: blank })
  const { intentFor, fulfilled } = useIntent()
  const change = useMutation({
    mutationFn: (values: typeof blank) =>
      api.put('/User/Password', values, intentFor(JSON.stringify(values))),
    onSuccess: () => {
      fulfilled()
      tellDone('The password is changed; sign in with the new one.')
      form.reset()
      void renew()
    },
    onError: (error) => form.setErrors(fieldErrors(error)),
  })
  return (
    <Card title="Password">
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack gap="sm">
          {change.error && <Failure error={change.error} />}
          <Row>
            <PasswordInput
              label="Present password"
              required
              autoComplete="current-password"
              visibilityToggleButtonProps={eye}
              {...form.getInputProps('currentPassword')}
            />
            <PasswordInput
              label="New password"
              description="At least 12 characters."
              required
              autoComplete="new-password"
              visibilityToggleButtonProps={eye}
              {...form.getInputProps('newPassword')}
            />
          </Row>
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={change.isPending}>
              Change the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}
