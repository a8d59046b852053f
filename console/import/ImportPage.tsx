import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Mode } from '../../src/integration/import/schema.ts'
import { useProduct, useReadNow } from '../shared/api/products.ts'
import { useRefresh } from '../shared/api/refresh.ts'
import type { Import } from '../shared/api/types.ts'
import { useDelete } from '../shared/api/write.ts'
import { Insist } from '../shared/form/Insist.tsx'
import { useGo } from '../shared/form/leave.ts'
import { count, moment } from '../shared/format.ts'
import { Facts, Figure, Figures } from '../shared/view/Facts.tsx'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card, Missing, Page } from '../shared/view/Page.tsx'
import { Refused } from './Refused.tsx'
import { sendImport, sentFrom } from './send.ts'
import { importTypes, modeNames, Outcome } from './words.tsx'

const isUnderWay = ({ status }: Import) => status === 'Queued' || status === 'Running'

/**
 * Whether an import has refused rows to show. For a cancelled import the service makes their file
 * only after the import has ended.
 */
const hasRefused = ({ status, mode, errorsSize, rowsRefused }: Import) =>
  errorsSize !== null || (status === 'Cancelled' && mode === 'continue' && Boolean(rowsRefused))

/** One import: its progress, the refused rows with their reasons, and the next step. */
export function ImportPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { slug } = useProduct()
  const [found] = useReadNow<Import[]>('/Import', { ImportID: id })
  const busy = found !== undefined && isUnderWay(found)
  useRefresh(busy)
  if (!found)
    return (
      <Missing title="No such import" back={{ to: `/${slug}/import`, label: 'Import' }}>
        It may be somebody else’s.
      </Missing>
    )
  return (
    <Page
      title={found.fileName ?? `Import ${id}`}
      back={{ to: `/${slug}/import`, label: 'Import' }}
      aside={<Outcome of={found} />}
    >
      <Stack>
        {busy ? <UnderWay found={found} /> : <Ended key={id} found={found} />}
        <Figures>
          <Figure label="Rows read" value={count(found.rowsRead ?? 0)} />
          <Figure
            label={found.mode === 'validate' ? 'Would go in' : 'Accepted'}
            value={count(found.rowsAccepted ?? 0)}
          />
          <Figure label="Refused" value={count(found.rowsRefused ?? 0)} />
        </Figures>
        {found.unknownColumns.length > 0 && (
          <Alert color="yellow">
            These columns match no field and were ignored: {found.unknownColumns.join(', ')}.
          </Alert>
        )}
        {!busy && hasRefused(found) && <Refused found={found} />}
        <Card title="About">
          <Facts
            facts={[
              ['What', importTypes.find(({ value }) => value === found.type)?.label],
              ['How', modeNames[found.mode ?? '']],
              ['By', found.username],
              ['Started', moment(found.createdDate)],
              ['Ended', moment(found.completedDate)],
            ]}
          />
        </Card>
      </Stack>
    </Page>
  )
}

function UnderWay({ found }: { found: Import }) {
  const cancel = useDelete('/Import', { onDone: () => tellDone('The import is cancelled.') })
  return (
    <Card>
      <Group justify="space-between" mb="xs">
        <Text size="sm">
          {found.mode === 'validate' ? 'Checking' : 'Importing'}. You can leave this page; it
          continues.
        </Text>
        <Button
          variant="default"
          size="xs"
          loading={cancel.isPending}
          onClick={() => cancel.mutate({ ImportID: found.importID ?? 0 })}
        >
          Cancel
        </Button>
      </Group>
      <Progress value={found.progressPercent ?? 0} aria-label="Progress" animated />
      {cancel.error && <Failure error={cancel.error} />}
    </Card>
  )
}

/**
 * The result of an import. A checked file can be committed from here; a committed one is finished.
 */
function Ended({ found }: { found: Import }) {
  const { slug } = useProduct()
  const go = useGo()
  const [state, setState] = useState<{ busy?: Mode; error?: Error }>({})
  const [insists, setInsists] = useState(false)
  const { status, mode, message, rowsRefused, rowsAccepted } = found
  const sent = sentFrom(found.importID ?? 0)
  const commit = async (how: Mode) => {
    if (!sent) return
    setState({ busy: how })
    try {
      const next = await sendImport(sent, how, insists)
      go(`/${slug}/import/${next}`)
    } catch (error) {
      setState({ error: error as Error }) // the client throws nothing else
    }
  }
  if (status === 'Failed')
    return <Failure error={new Error(message ?? 'The file could not be read.')} />
  if (status === 'Cancelled' && message) return <Alert color="yellow">{message}</Alert>
  if (mode !== 'validate' || !rowsAccepted) return null
  if (!sent)
    return (
      <Alert color="blue">
        The file was checked, and was not kept. To import it, choose it again under Import.
      </Alert>
    )
  return (
    <Card title="Next: import">
      <Insist error={state.error} insists={insists} onChange={setInsists} />
      <Group justify="space-between" mt={state.error && 'sm'}>
        <Text size="sm">
          {rowsRefused
            ? 'Correct the refused rows below, or import the good rows now and correct the others later.'
            : 'Every row is good. All are imported together, or none.'}
        </Text>
        <Button
          loading={state.busy !== undefined}
          onClick={() => void commit(rowsRefused ? 'continue' : 'atomic')}
        >
          {actionOf(rowsAccepted, Boolean(rowsRefused))}
        </Button>
      </Group>
    </Card>
  )
}

function actionOf(rows: number, someRefused: boolean): string {
  if (!someRefused) return `Import ${count(rows)} ${rows === 1 ? 'row' : 'rows'}`
  return rows === 1 ? 'Import the good row' : `Import the ${count(rows)} good rows`
}
