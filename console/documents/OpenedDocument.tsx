import { Anchor, Button, Group, Stack } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import { useProduct } from '../shared/api/products.ts'
import type { ListedDocument as Document } from '../shared/api/types.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { bytes, moment } from '../shared/format.ts'
import { linkTo } from '../shared/link.ts'
import { useMay } from '../shared/permission.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Loading } from '../shared/view/Page.tsx'
import { DocumentForm } from './DocumentForm.tsx'
import { Preview } from './Preview.tsx'

/** The investor a document is of, by whose page it is seen with the others. */
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

type Props = { document: Document; onClose: () => void }

/** One document: what it is, its file in the page, and what can be done about it. */
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
            The document goes with its file, for everybody.
          </Remove>
        </Group>
      )}
      {document.fileName && <Preview document={document} />}
    </Stack>
  )
}
