import { Anchor, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../shared/api/client.ts'
import { useProduct } from '../shared/api/products.ts'
import { DropZone } from '../shared/form/DropZone.tsx'
import { Row } from '../shared/form/fields.tsx'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { useLeave } from '../shared/form/leave.ts'
import { bytes } from '../shared/format.ts'
import { save } from '../shared/list/export.ts'
import { Failure, tellFailure } from '../shared/view/Failure.tsx'
import { Card, Page } from '../shared/view/Page.tsx'
import { Mapped } from './Mapped.tsx'
import { sendImport, type Terms } from './send.ts'
import { headingsOf, readTable } from './table.ts'
import { importTypes } from './words.tsx'

const verdicts = ['line', 'field', 'code', 'message']

/**
 * The headings without the four verdict columns of an earlier attempt; they are dropped only if all
 * four are there, as the service does it.
 */
const ownOf = (headings: readonly string[]) =>
  verdicts.every((name, i) => headings[i]?.toLowerCase() === name)
    ? headings.slice(verdicts.length)
    : [...headings]

/**
 * A new import: the file, its type and the mapping of its columns. The file is then checked without
 * writing anything.
 */
export function NewImport() {
  const { slug, productID } = useProduct()
  const [saved, leave] = useLeave()
  const [terms, setTerms] = useState<Terms>({
    type: 'Transactions',
    dateFormat: 'YYYY-MM-DD',
    encoding: 'UTF-8',
    mapping: [],
    productID,
  })
  const [file, setFile] = useState<File>()
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false })
  const set = (change: Partial<Terms>) => setTerms({ ...terms, ...change })
  const fields = useFields(terms.type)
  const headings = useHeadings(file, terms.encoding)
  const check = async () => {
    if (!file) return
    setState({ busy: true })
    try {
      const id = await sendImport({ file, terms }, 'validate')
      leave(`/${slug}/import/${id}`)
    } catch (error) {
      setState({ busy: false, error })
    }
  }
  return (
    <Page title="Import a file" back={{ to: `/${slug}/import`, label: 'Import' }} narrow>
      <LeaveGuard dirty={file !== undefined && !saved} />
      <Stack>
        {state.error !== undefined && <Failure error={state.error} />}
        <What terms={terms} set={set} />
        <Card title="File">
          <Stack gap="sm">
            <DropZone
              label={file ? file.name : 'Drop the file here, or choose it'}
              hint={file ? bytes(file.size) : 'CSV, XLSX or lines of JSON'}
              accept=".csv,.tsv,.txt,.xlsx,.jsonl"
              onFiles={([dropped]) => {
                setFile(dropped)
                set({ mapping: [] })
              }}
            />
          </Stack>
        </Card>
        {file && headings.length > 0 && (
          <Mapped
            headings={ownOf(headings)}
            fields={fields}
            mapping={terms.mapping}
            onChange={(mapping) => set({ mapping })}
          />
        )}
        <Group justify="space-between">
          <Text size="sm" className="quiet">
            The whole file is checked first. Nothing is imported yet.
          </Text>
          <Button disabled={!file} loading={state.busy} onClick={() => void check()}>
            Check the file
          </Button>
        </Group>
      </Stack>
    </Page>
  )
}

type WhatProps = { terms: Terms; set: (change: Partial<Terms>) => void }

function What({ terms, set }: WhatProps) {
  const template = async (format: string) => {
    try {
      const blob = await api.file('/Import/Template', { Type: terms.type, Format: format })
      save(blob, `${terms.type}.${format}`)
    } catch (error) {
      tellFailure(error)
    }
  }
  return (
    <Card title="Contents">
      <Stack gap="sm">
        <Row>
          <Select
            label="Rows are"
            data={importTypes}
            allowDeselect={false}
            value={terms.type}
            onChange={(type) => set({ type: type ?? terms.type, mapping: [] })}
          />
          <Select
            label="Dates are written"
            data={[
              { value: 'YYYY-MM-DD', label: '2026-06-30' },
              { value: 'DD/MM/YYYY', label: '30/06/2026' },
            ]}
            allowDeselect={false}
            value={terms.dateFormat}
            onChange={(value) => set({ dateFormat: value as Terms['dateFormat'] })}
          />
          <Select
            label="Encoding"
            data={['UTF-8', 'Windows-1252']}
            allowDeselect={false}
            value={terms.encoding}
            onChange={(value) => set({ encoding: value as Terms['encoding'] })}
          />
        </Row>
        <Text size="sm" className="quiet">
          An empty file with the usual columns and an example:{' '}
          <Anchor component="button" size="sm" onClick={() => void template('csv')}>
            CSV
          </Anchor>
          ,{' '}
          <Anchor component="button" size="sm" onClick={() => void template('xlsx')}>
            XLSX
          </Anchor>
        </Text>
      </Stack>
    </Card>
  )
}

/** The fields of a type, from the header line of its template. */
function useFields(type: string): string[] {
  const { data = [] } = useQuery({
    queryKey: ['import-fields', type],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const blob = await api.file('/Import/Template', { Type: type, Format: 'csv' })
      return readTable(await blob.text()).head
    },
  })
  return data
}

function useHeadings(file: File | undefined, encoding: string): string[] {
  const { data = [] } = useQuery({
    queryKey: ['headings', file?.name, file?.size, file?.lastModified, encoding],
    enabled: file !== undefined,
    gcTime: 0,
    queryFn: () => (file ? headingsOf(file, encoding) : []),
  })
  return data
}
