import { Button, Group, PasswordInput, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTagged } from '../shared/api/tagged.ts'
import type { Document } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { LookupField } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { documentID: number; onDone: () => void }

/** Edits the name of a document and who sees it; its file stays. */
export function DocumentForm({ documentID, onDone }: Props) {
  const tagged = useTagged<Document>('/Document', { DocumentID: documentID })
  const { record } = tagged
  const form = useForm({
    initialValues: {
      name: record.name ?? '',
      documentTypeID: record.documentTypeID,
      externalDocumentId: record.externalDocumentId ?? '',
      description: record.description ?? '',
      isPublic: record.isPublic ?? false,
      showInDocumentsInPortal: record.showInDocumentsInPortal ?? false,
      password: '',
      noPassword: false,
    },
  })
  const save = useWrite('put', '/Document', {
    tagged,
    onDone: () => {
      tellDone('The document is saved.')
      onDone()
    },
    onKept: onDone,
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const { code, ordinal, productID, bizEntityID, organisationID } = record
  const kept = { documentID, code, ordinal, productID, bizEntityID, organisationID }
  const submit = form.onSubmit(({ password, noPassword, ...values }) =>
    save.mutate({
      ...kept,
      ...values,
      ...(password && { password }),
      ...(noPassword && { password: '' }),
    }),
  )
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <TextInput label="Name" {...form.getInputProps('name')} />
        <LookupField
          label="Type"
          category="DocumentType"
          required
          {...form.getInputProps('documentTypeID')}
        />
        <TextInput label="External id" {...form.getInputProps('externalDocumentId')} />
        <Textarea label="Description" autosize minRows={2} {...form.getInputProps('description')} />
        <PasswordInput
          label={record.hasPassword ? 'New password' : 'Password'}
          description={record.hasPassword ? 'Left empty, the password stays.' : ''}
          autoComplete="new-password"
          disabled={form.values.noPassword}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
          {...form.getInputProps('password')}
        />
        {record.hasPassword && (
          <Switch
            label="Take the password away"
            {...form.getInputProps('noPassword', { type: 'checkbox' })}
          />
        )}
        <Switch
          label="Shown to the investor"
          {...form.getInputProps('showInDocumentsInPortal', { type: 'checkbox' })}
        />
        <Switch
          label="Public"
          description="Anybody with its number can open it, signed in or not."
          {...form.getInputProps('isPublic', { type: 'checkbox' })}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
