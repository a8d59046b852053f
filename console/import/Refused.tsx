import { Button, Group, Table, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../shared/api/client.ts'
import { RegistryError } from '../shared/api/error.ts'
import { useProduct } from '../shared/api/products.ts'
import type { Import } from '../shared/api/types.ts'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { useGo } from '../shared/form/leave.ts'
import { count } from '../shared/format.ts'
import { save } from '../shared/list/export.ts'
import { Failure } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Card, Loading } from '../shared/view/Page.tsx'
import { canMend as canMendFile, type Mended, mendFile } from './mend.ts'
import { sendImport, sentFrom } from './send.ts'
import { type Table as Rows, readRefused, verdictColumns, writeTable } from './table.ts'

/** The most rows that are shown and corrected in the page; more are corrected in the file. */
const most = 200
const verdict = verdictColumns.length
/** How often to ask again while the service still makes the file of refused rows. */
const againMs = 1500

/** Read-only rows take no focus, so the group does: users without a mouse scroll it by keyboard. */
const byKeyboard = { tabIndex: 0, role: 'group', 'aria-label': 'Refused rows' }

/** A row may have more cells than the header; the service then refuses it for that. */
const headingOf = ({ head }: Rows, column: number) => head[verdict + column] ?? `Cell ${column + 1}`

type Props = { found: Import }

/** The refused rows, each with its errors. */
export function Refused({ found }: Props) {
  const { importID, format, fileName, rowsRefused } = found
  const canShow = format === 'csv' || (format === 'xlsx' && (rowsRefused ?? 0) < most)
  const errors = useQuery({
    queryKey: ['refused', importID],
    staleTime: Number.POSITIVE_INFINITY,
    retry: (_tries, error) => hasCode(error, 'not_complete'),
    retryDelay: againMs,
    queryFn: () => api.file('/Import/File', { ImportID: importID, Result: 'errors' }),
  })
  const text = useQuery({
    queryKey: ['refused rows', importID],
    // Do not unpack rows that will not be shown.
    enabled: canShow && errors.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => readRefused(errors.data ?? new Blob(), format ?? '', most),
  })
  const { data } = errors
  return (
    <Card
      title="Refused rows"
      padded={false}
      actions={
        <Button
          size="xs"
          variant="default"
          disabled={!data}
          leftSection={<Icon name="download" size={14} />}
          onClick={() => data && save(data, `refused ${fileName ?? `rows.${format}`}`)}
        >
          Download
        </Button>
      }
    >
      {errors.error && <NotThere error={errors.error} retry={() => void errors.refetch()} />}
      {(errors.isPending || text.isLoading) && <Loading />}
      {text.data && <Mend found={found} table={text.data} />}
      {text.error && <Failure error={text.error} retry={() => void text.refetch()} />}
      {!canShow && data && (
        <Text size="sm" className="quiet" p="md">
          Download the rows with what is wrong with each, mend them there and import that file.
        </Text>
      )}
    </Card>
  )
}

const hasCode = (error: Error, wanted: string) =>
  error instanceof RegistryError && error.problems.some(({ code }) => code === wanted)

/** Shown when the refused rows cannot be read; the service keeps them for a month. */
const NotThere = ({ error, retry }: { error: Error; retry: () => void }) =>
  hasCode(error, 'no_errors') ? (
    <Text size="sm" className="quiet" p="md">
      The refused rows are not kept any more.
    </Text>
  ) : (
    <Failure error={error} retry={retry} />
  )

/**
 * The refused rows, editable in place. After a check alone the whole file is checked again; if the
 * valid rows are committed already, only the corrected rows are sent.
 */
function Mend({ found, table }: Props & { table: Rows }) {
  const { slug } = useProduct()
  const go = useGo()
  const [rows, setRows] = useState(table.rows)
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false })
  const sent = sentFrom(found.importID ?? 0)
  const othersAreIn = found.mode === 'continue'
  const isWhole = found.mode === 'validate' && sent !== undefined && canMendFile(sent.file)
  const canMend = sent !== undefined && (othersAreIn || isWhole) && table.rows.length < most
  const set = (at: number, column: number, text: string) =>
    setRows(rows.map((row, i) => (i === at ? row.with(column, text) : row)))
  const send = async () => {
    if (!sent) return
    setState({ busy: true })
    try {
      const file = othersAreIn
        ? rowsAlone(found, { ...table, rows })
        : await mendFile(sent.file, sent.terms.encoding, changesOf(table.rows, rows))
      const terms = { ...sent.terms, encoding: 'UTF-8' as const }
      const id = await sendImport({ file, terms }, 'validate')
      go(`/${slug}/import/${id}`)
    } catch (error) {
      setState({ busy: false, error })
    }
  }
  return (
    <>
      <LeaveGuard dirty={rows !== table.rows && !state.busy} />
      {state.error !== undefined && <Failure error={state.error} />}
      <Table.ScrollContainer
        minWidth={Math.max(600, table.head.length * 110)}
        mah={460}
        scrollAreaProps={{ viewportProps: byKeyboard }}
      >
        <Table verticalSpacing={4} fz="sm" aria-label="Refused rows" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Line</Table.Th>
              <Table.Th>What is wrong</Table.Th>
              {table.head.slice(verdict).map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row, i) => (
              <Table.Tr key={`${row[0]} ${String(i)}`}>
                <Table.Td>{row[0]}</Table.Td>
                <Table.Td className="negative" miw={220} maw={360}>
                  {row[3]}
                </Table.Td>
                {row.slice(verdict).map((text, column) => (
                  <Table.Td key={headingOf(table, column)}>
                    {canMend ? (
                      <TextInput
                        size="xs"
                        miw={110}
                        aria-label={`${headingOf(table, column)} of line ${row[0]}`}
                        value={text}
                        onChange={(event) => set(i, verdict + column, event.currentTarget.value)}
                      />
                    ) : (
                      text
                    )}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {canMend && (
        <Group justify="space-between" p="md">
          <Text size="sm" className="quiet">
            {othersAreIn
              ? 'The other rows are imported. Correct these; only they are checked again.'
              : 'Correct the rows here; then the whole file is checked again.'}
          </Text>
          <Button
            loading={state.busy}
            disabled={!othersAreIn && changesOf(table.rows, rows).length === 0}
            onClick={() => void send()}
          >
            {othersAreIn
              ? `Check ${count(rows.length)} mended ${rows.length === 1 ? 'row' : 'rows'}`
              : 'Check the mended file'}
          </Button>
        </Group>
      )}
    </>
  )
}

/** A file with only the corrected rows. */
function rowsAlone({ fileName }: Import, { head, rows }: Rows): File {
  const kept = { head: head.slice(verdict), rows: rows.map((row) => row.slice(verdict)) }
  const name = (fileName ?? 'rows').replace(/\.\w+$/, '')
  return new File([writeTable(kept)], `mended ${name}.csv`)
}

/** The cells that were changed. */
const changesOf = (before: string[][], after: string[][]): Mended[] =>
  after.flatMap((row, i) =>
    row.flatMap((text, column) =>
      text === before[i]?.[column]
        ? []
        : [{ line: Number(row[0]), column: column - verdict, text }],
    ),
  )
