import { Button, Group, Modal, PasswordInput, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useIntent, waits } from '../shared/api/write.ts'
import { LookupField } from '../shared/form/fields.tsx'
import { useIsHere } from '../shared/form/leave.ts'
import { bytes, count } from '../shared/format.ts'
import { Failure, tellDone, tellFailure } from '../shared/view/Failure.tsx'
import type { Owner } from './DocumentList.tsx'
import { create, send, waiting } from './send.ts'

type Props = { files: File[]; owner: Owner; onClose: () => void }

const other = 9

const nameOf = ({ name }: File) => name.replace(/\.[^.]+$/, '')

/** Asks what the dropped files are, and uploads them one after the other. */
export function Upload({ files, owner, onClose }: Props) {
  const form = useForm({
    initialValues: {
      documentTypeID: other as number | null,
      names: files.map(nameOf),
      password: '',
      isPublic: false,
      showInDocumentsInPortal: false,
    },
  })
  const upload = useUpload(files, owner, onClose)
  const { isPublic } = form.values
  return (
    <Modal
      opened
      onClose={onClose}
      title={files.length === 1 ? 'Upload a file' : `Upload ${count(files.length)} files`}
    >
      <form onSubmit={form.onSubmit((values) => void upload.run(values))}>
        <Stack gap="sm">
          {upload.error !== undefined && <Failure error={upload.error} />}
          {files.map((file, i) => (
            <TextInput
              key={`${file.name} ${file.size}`}
              label={files.length === 1 ? 'Name' : file.name}
              description={bytes(file.size)}
              required
              {...form.getInputProps(`names.${i}`)}
            />
          ))}
          <LookupField
            label="Type"
            category="DocumentType"
            required
            {...form.getInputProps('documentTypeID')}
          />
          <PasswordInput
            label="Password"
            description="Left empty, whoever may see the document may open it."
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
            {...form.getInputProps('password')}
          />
          <Switch
            label="Shown to the investor"
            {...form.getInputProps('showInDocumentsInPortal', { type: 'checkbox' })}
          />
          <Switch
            label="Public"
            description={isPublic ? 'Anybody with its number can open it, signed in or not.' : ''}
            {...form.getInputProps('isPublic', { type: 'checkbox' })}
          />
          <Group justify="space-between">
            <Text size="sm" className="quiet">
              {upload.busy && `${count(upload.done)} of ${count(files.length)} uploaded`}
            </Text>
            <Button type="submit" loading={upload.busy}>
              Upload
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

type Values = { names: string[]; password: string; [field: string]: unknown }

const fileLater = 'A file cannot wait: upload it once the document is there.'

const outcomeOf = (made: unknown[]) => {
  if (made.includes(waiting)) return `${waits} ${fileLater}`
  return made.length === 1 ? 'The document is there.' : 'The documents are there.'
}

/**
 * Uploads the files and remembers those that are done, so that a retry continues where it stopped.
 * A request whose answer was lost is repeated under its Idempotency-Key. Closing the dialog does not
 * stop the uploads, so what fails afterwards is told beside the page.
 */
function useUpload(files: File[], owner: Owner, onClose: () => void) {
  const client = useQueryClient()
  const [state, setState] = useState<{ busy: boolean; done: number; error?: unknown }>({
    busy: false,
    done: 0,
  })
  const { intentFor, fulfilled } = useIntent()
  const made = useRef<Awaited<ReturnType<typeof create>>[]>([])
  const isHere = useIsHere()
  const run = async ({ names, password, ...rest }: Values) => {
    let { done } = state
    setState({ busy: true, done })
    try {
      for (const [i, file] of files.slice(done).entries()) {
        const at = done + i
        const body = { ...rest, ...owner, name: names[at], ...(password && { password }) }
        const documentID = made.current[at] ?? (await create(body, intentFor(JSON.stringify(body))))
        made.current[at] = documentID
        if (documentID !== waiting) await send(documentID, file, intentFor(String(documentID)))
        fulfilled()
        setState({ busy: true, done: at + 1 })
      }
      done = files.length
      await client.invalidateQueries()
      tellDone(outcomeOf(made.current))
      if (isHere.current) onClose()
    } catch (error) {
      await client.invalidateQueries()
      if (isHere.current) setState(({ done: so }) => ({ busy: false, done: so, error }))
      else tellFailure(error)
    }
  }
  return { ...state, run }
}
