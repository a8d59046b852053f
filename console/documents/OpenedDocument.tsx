import { Button, Group, Stack } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import type { Document } from '../shared/api/types.ts'
import { useDelete } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { bytes, moment } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { tellDone } from '../shared/view/Failure.tsx'
import { Loading } from '../shared/view/Page.tsx'
import { DocumentForm } from './DocumentForm.tsx'
import { Preview } from './Preview.tsx'

type Props = { document: Document; onClose: () => void }

/** One document: what it is, its file in the page, and what can be done about it. */
export function OpenedDocument({ document, onClose }: Props) {
  const may = useMay()
  const { name } = useLookups()
  const [mode, setMode] = useState<'edit' | 'delete'>()
  const remove = useDelete('/Document', () => {
    tellDone('The document and its file are deleted.')
    onClose()
  })
  const documentID = document.documentID ?? 0
  if (mode === 'edit')
    return (
      <Suspense fallback={<Loading />}>
        <DocumentForm documentID={documentID} onDone={onClose} />
      </Suspense>
    )
  return (
    <Stack>
      <Facts
        facts={[
          ['Type', name('DocumentType', document.documentTypeID)],
          ['File', document.fileName],
          ['Size', document.fileSize ? bytes(document.fileSize) : ''],
          ['Added', moment(document.createdDate)],
          ['External id', document.externalDocumentId],
          ['Description', document.description],
        ]}
      />
      {may('Document.Write') && (
        <Group>
          <Button variant="default" onClick={() => setMode('edit')}>
            Edit
          </Button>
          <Button variant="default" onClick={() => setMode('delete')}>
            Delete
          </Button>
        </Group>
      )}
      {document.fileName && <Preview document={document} />}
      <Confirm
        title="Delete this document?"
        opened={mode === 'delete'}
        onClose={() => setMode(undefined)}
        onConfirm={() => remove.mutate({ DocumentID: documentID })}
        action="Delete"
        busy={remove.isPending}
        error={remove.error}
        danger
      >
        The document goes with its file, for everybody.
      </Confirm>
    </Stack>
  )
}
