import { Anchor, Button, Group, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import { useProduct } from '../shared/api/products.ts'
import type { ListedDocument as Document } from '../shared/api/types.ts'
import { useIntent } from '../shared/api/write.ts'
import { DropZone } from '../shared/form/DropZone.tsx'
import { Remove } from '../shared/form/Remove.tsx'
import { bytes, moment } from '../shared/format.ts'
import { linkTo } from '../shared/link.ts'
import { useMay } from '../shared/permission.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Loading } from '../shared/view/Page.tsx'
import { DocumentForm } from './DocumentForm.tsx'
import { Preview } from './Preview.tsx'
import { send } from './send.ts'

/** Links to the investor that owns a document, whose page lists all of its documents. */
function Whose({ of: { bizEntityID, bizEntityName } }: { of: Document }) {
  const { slug } = useProduct()
  return (
    <Anchor
      component={Link}
      {...linkTo(`/${slug}/investors/${bizEntityID}?section=documents`)}
      inherit
    >
      {bizEntityName}
    </Anchor>
  )
}

type FileProps = { documentID: number; onDone: () => void }

/**
 * Uploads the file of a document created without one, for instance while it waited for approval.
 */
function FirstFile({ documentID, onDone }: FileProps) {
  const client = useQueryClient()
  const { intentFor, fulfilled } = useIntent()
  const add = useMutation({
    mutationFn: (file: File) =>
      send(documentID, file, intentFor(`${file.name} ${file.size} ${file.lastModified}`)),
    onSuccess: async () => {
      fulfilled()
      await client.invalidateQueries()
      tellDone('The file is there.')
      onDone()
    },
  })
  return (
    <Stack gap="sm">
      {add.error && <Failure error={add.error} />}
      <DropZone
        label="Drop its file here, or choose it"
        hint="The document has none yet."
        onFiles={([file]) => file && add.mutate(file)}
      />
    </Stack>
  )
}

type Props = { document: Document; onClose: () => void }

/** One document: its facts, its file in the page, and the actions on it. */
export function OpenedDocument({ document, onClose }: Props) {
  const may = useMay()
  const { name } = useLookups()
  const [isEdited, setEdited] = useState(false)
  const documentID = document.documentID ?? 0
  if (isEdited)
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
          ['Investor', document.bizEntityID && <Whose key="whose" of={document} />],
          ['Organisation', document.organisationName],
          ['File', document.fileName],
          ['Size', document.fileSize ? bytes(document.fileSize) : ''],
          ['Added', moment(document.createdDate)],
          ['External id', document.externalDocumentId],
          ['Description', document.description],
        ]}
      />
      {may('Document.Write') && (
        <Group>
          <Button variant="default" onClick={() => setEdited(true)}>
            Edit
          </Button>
          <Remove
            path="/Document"
            params={{ DocumentID: documentID }}
            what="the document"
            done="The document and its file are deleted."
            onDone={onClose}
          >
            The document and its file are deleted for everybody.
          </Remove>
        </Group>
      )}
      {document.fileName && <Preview document={document} />}
      {!document.fileName && may('Document.Write') && (
        <FirstFile documentID={documentID} onDone={onClose} />
      )}
    </Stack>
  )
}
