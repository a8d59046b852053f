import { Button, Progress } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import { useRefresh } from '../shared/api/refresh.ts'
import type { Report } from '../shared/api/types.ts'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { bytes, count, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Loading, Page } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { Ordered } from './Ordered.tsx'
import { OrderReport } from './OrderReport.tsx'

const complete = 3

/** The ordered reports, their progress and their files. */
export function Reports() {
  const { productID } = useProduct()
  const may = useMay()
  const [opened, setOpened] = useState<Report>()
  const [order, setOrder] = useState<{ like?: Report }>()
  const close = () => setOpened(undefined)
  const again = (like: Report) => {
    close()
    setOrder({ like })
  }
  useProgress(productID)
  const add = may('Report.Write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOrder({})}>
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
          {
            key: 'FailedDeliveries',
            label: 'Statements',
            kind: 'choice',
            options: [{ value: 'true', label: 'that did not arrive' }],
          },
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
      <FormDrawer
        opened={order !== undefined}
        onClose={() => setOrder(undefined)}
        title={order?.like ? 'Order again, as known then' : 'Order a report'}
      >
        <Suspense fallback={<Loading />}>
          <OrderReport like={order?.like} onDone={() => setOrder(undefined)} />
        </Suspense>
      </FormDrawer>
      <FormDrawer
        opened={opened !== undefined}
        onClose={close}
        size="xl"
        title={opened?.name ?? ''}
      >
        {opened && <Ordered report={opened} onClose={close} onAgain={again} />}
      </FormDrawer>
    </Page>
  )
}

/** Reads the list again and again while a report is being made. */
function useProgress(productID: number) {
  const { data = [] } = useRead<Report[]>('/Report', {
    ProductID: productID,
    PageSize: 100,
    Order: 'desc',
  })
  useRefresh(data.some(({ reportStatusID }) => (reportStatusID ?? complete) < complete))
}

function useColumns(): Column<Report>[] {
  const { name } = useLookups()
  return [
    { id: 'name', title: 'Name', text: (row) => row.name ?? '', width: 'minmax(190px, 2fr)' },
    {
      id: 'what',
      title: 'What',
      text: (row) => name('ReportType', row.reportTypeID),
      width: 'minmax(130px, 1fr)',
    },
    {
      id: 'format',
      title: 'Format',
      text: (row) => (row.format ?? '').toUpperCase(),
      width: '60px',
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
      width: '110px',
    },
    {
      id: 'rows',
      title: 'Rows',
      right: true,
      text: (row) => (row.rowCount === null ? '' : count(row.rowCount)),
      width: '72px',
    },
    {
      id: 'size',
      title: 'Size',
      right: true,
      text: (row) => (row.fileSize ? bytes(row.fileSize) : ''),
      width: '72px',
    },
    { id: 'who', title: 'Ordered by', text: (row) => row.username ?? '' },
    {
      id: 'when',
      title: 'Ordered',
      text: (row) => moment(row.createdDate),
      width: 'minmax(136px, 1fr)',
    },
  ]
}
