import { Button, Drawer, Group, Progress } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Suspense, useEffect, useState } from 'react'
import { api } from '../shared/api/client.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import type { Report } from '../shared/api/types.ts'
import { useDelete } from '../shared/api/write.ts'
import { bytes, count, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { save } from '../shared/list/export.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure, tellDone, tellFailure } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Loading, Page } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { OrderReport } from './OrderReport.tsx'

const complete = 3
const failed = 4

/** What was ordered, how far it is, and the files. */
export function Reports() {
  const { productID } = useProduct()
  const may = useMay()
  const [opened, setOpened] = useState<Report | 'new'>()
  const close = () => setOpened(undefined)
  useProgress(productID)
  const add = may('Report.Write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpened('new')}>
      Order a report
    </Button>
  )
  return (
    <Page title="Reports" actions={add}>
      <ListView<Report>
        id="reports"
        label="Reports"
        path="/Report"
        params={{ ProductID: productID, Order: 'desc' }}
        filters={[
          { key: 'ReportTypeID', label: 'What', kind: 'lookup', category: 'ReportType' },
          { key: 'ReportStatusID', label: 'State', kind: 'lookup', category: 'ReportStatus' },
        ]}
        columns={useColumns()}
        onOpen={setOpened}
        empty={
          <Empty title="No report yet">
            Order the register of members, holdings, transactions or statements; they are made in
            the background and stay here.
          </Empty>
        }
      />
      <Drawer opened={opened === 'new'} onClose={close} title="Order a report">
        <Suspense fallback={<Loading />}>
          <OrderReport onDone={close} />
        </Suspense>
      </Drawer>
      <Drawer
        opened={opened !== undefined && opened !== 'new'}
        onClose={close}
        size="xl"
        title={opened && opened !== 'new' ? opened.name : ''}
      >
        {opened && opened !== 'new' && <Ordered report={opened} onClose={close} />}
      </Drawer>
    </Page>
  )
}

const everyMs = 1500

/** While something is being made, the list is read again. */
function useProgress(productID: number) {
  const client = useQueryClient()
  const { data = [] } = useRead<Report[]>('/Report', {
    ProductID: productID,
    PageSize: 100,
    Order: 'desc',
  })
  const busy = data.some(({ reportStatusID }) => (reportStatusID ?? complete) < complete)
  useEffect(() => {
    if (!busy) return
    const timer = setInterval(() => void client.invalidateQueries(), everyMs)
    return () => clearInterval(timer)
  }, [busy, client])
}

function useColumns(): Column<Report>[] {
  const { name } = useLookups()
  return [
    { id: 'name', title: 'Name', text: (row) => row.name ?? '', width: 'minmax(220px, 2fr)' },
    { id: 'what', title: 'What', text: (row) => name('ReportType', row.reportTypeID) },
    {
      id: 'format',
      title: 'Format',
      text: (row) => (row.format ?? '').toUpperCase(),
      width: '80px',
    },
    {
      id: 'state',
      title: 'State',
      text: (row) => name('ReportStatus', row.reportStatusID),
      cell: (row) =>
        row.reportStatusID === 2 ? (
          <Progress value={row.progressPercent ?? 0} aria-label="Progress" />
        ) : (
          <Status category="ReportStatus" id={row.reportStatusID} />
        ),
      width: '120px',
    },
    {
      id: 'rows',
      title: 'Rows',
      right: true,
      text: (row) => (row.rowCount === null ? '' : count(row.rowCount)),
    },
    {
      id: 'size',
      title: 'Size',
      right: true,
      text: (row) => (row.fileSize ? bytes(row.fileSize) : ''),
    },
    { id: 'who', title: 'Ordered by', text: (row) => row.username ?? '' },
    {
      id: 'when',
      title: 'Ordered',
      text: (row) => moment(row.createdDate),
      width: 'minmax(150px, 1fr)',
    },
  ]
}

function Ordered({ report, onClose }: { report: Report; onClose: () => void }) {
  const may = useMay()
  const { reportID, format, reportStatusID } = report
  const remove = useDelete('/Report', () => {
    tellDone('The report and its file are deleted.')
    onClose()
  })
  const download = async () => {
    try {
      save(await api.file('/Report/File', { ReportID: reportID }), `${report.name}.${format}`)
    } catch (error) {
      tellFailure(error)
    }
  }
  return (
    <>
      <Facts
        facts={[
          ['Ordered', moment(report.createdDate)],
          ['By', report.username],
          ['Made', moment(report.completedDate)],
          ['As at', report.date],
          ['From', report.fromDate],
          ['Until', report.toDate],
        ]}
      />
      {reportStatusID === failed && (
        <Failure error={new Error(report.errorMessage ?? 'It failed.')} />
      )}
      <Group my="md">
        {reportStatusID === complete && (
          <Button leftSection={<Icon name="download" size={16} />} onClick={() => void download()}>
            Download
          </Button>
        )}
        {may('Report.Write') && (
          <Button
            variant="default"
            loading={remove.isPending}
            onClick={() => remove.mutate({ ReportID: reportID ?? 0 })}
          >
            Delete
          </Button>
        )}
      </Group>
      {remove.error && <Failure error={remove.error} />}
    </>
  )
}
