import { useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import type { ListedDocument as Document } from '../shared/api/types.ts'
import { DropZone } from '../shared/form/DropZone.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { bytes, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Empty } from '../shared/view/Page.tsx'
import { Tag } from '../shared/view/Status.tsx'
import { OpenedDocument } from './OpenedDocument.tsx'
import { Upload } from './Upload.tsx'

/** The owner of a document, in the form that request bodies name it. */
export type Owner = { productID: number } | { bizEntityID: number }

const asParameter = (owner: Owner) =>
  'productID' in owner ? { ProductID: owner.productID } : { BizEntityID: owner.bizEntityID }

/** The documents of an owner, with a place to drop new ones. */
export function DocumentList({ owner }: { owner: Owner }) {
  const may = useMay()
  const [files, setFiles] = useState<File[]>([])
  const [opened, setOpened] = useState<Document>()
  const close = () => setOpened(undefined)
  return (
    <>
      {may('Document.Write') && (
        <DropZone
          label="Drop files here, or choose them"
          hint="Each becomes a document, with a type, a name and, if you like, a password."
          multiple
          onFiles={setFiles}
        />
      )}
      <ListView<Document>
        id="documents"
        label="Documents"
        path="/Document/List"
        params={asParameter(owner)}
        filters={[
          { key: 'DocumentTypeID', label: 'Type', kind: 'lookup', category: 'DocumentType' },
          { key: 'CreatedDate.greaterThanOrEqual', label: 'Since', kind: 'moment' },
          { key: 'DocumentID', label: 'Number', kind: 'text' },
        ]}
        columns={useColumns(owner)}
        onOpen={setOpened}
        empty={
          <Empty title="No document here">
            {may('Document.Write') && 'Drop the first file above.'}
          </Empty>
        }
      />
      {files.length > 0 && <Upload files={files} owner={owner} onClose={() => setFiles([])} />}
      <FormDrawer
        opened={opened !== undefined}
        onClose={close}
        size="xl"
        title={opened?.name ?? ''}
      >
        {opened && <OpenedDocument document={opened} onClose={close} />}
      </FormDrawer>
    </>
  )
}

/** The owner to show for a document: an investor, an organisation, or the product itself. */
const ownerOf = ({ bizEntityName, organisationName }: Document) =>
  bizEntityName ?? organisationName ?? 'The product'

function useColumns(owner: Owner): Column<Document>[] {
  const { name: nameOf } = useLookups()
  return [
    {
      id: 'name',
      title: 'Name',
      text: ({ name, fileName, documentID }) => name ?? fileName ?? `Document ${documentID}`,
      width: 'minmax(180px, 1.5fr)',
    },
    ...('productID' in owner
      ? [{ id: 'of', title: 'Of', text: ownerOf, width: 'minmax(190px, 2fr)' }]
      : []),
    {
      id: 'type',
      title: 'Type',
      text: (row) => nameOf('DocumentType', row.documentTypeID),
      width: 'minmax(120px, 1fr)',
    },
    { id: 'file', title: 'File', text: ({ fileName }) => fileName ?? 'none yet', spare: true },
    {
      id: 'size',
      title: 'Size',
      right: true,
      text: ({ fileSize }) => (fileSize ? bytes(fileSize) : ''),
      width: '64px',
    },
    {
      id: 'seen',
      title: 'Who sees it',
      text: ({ isPublic, showInDocumentsInPortal: portal }) =>
        isPublic ? 'Anybody' : portal ? 'Us and the investor' : 'Us',
    },
    {
      id: 'password',
      title: 'Password',
      text: ({ hasPassword }) => (hasPassword ? 'Yes' : ''),
      cell: ({ hasPassword }) => hasPassword && <Tag tone="moves">Password</Tag>,
      width: '90px',
    },
    {
      id: 'added',
      title: 'Added',
      text: (row) => moment(row.createdDate),
      width: 'minmax(150px, 1fr)',
    },
  ]
}
