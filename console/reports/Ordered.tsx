import { Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../shared/api/client.ts'
import type { Report } from '../shared/api/types.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { day, moment } from '../shared/format.ts'
import { save } from '../shared/list/export.ts'
import { useMay } from '../shared/permission.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Failure, tellFailure } from '../shared/view/Failure.tsx'
import { FileView } from '../shared/view/FileView.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Loading } from '../shared/view/Page.tsx'
import { Deliveries } from './Deliveries.tsx'

const complete = 3
const failed = 4

type Props = { report: Report; onClose: () => void; onAgain: (report: Report) => void }

/** One report: its file, shown in the page where possible, and the deliveries of its statements. */
export function Ordered({ report, onClose, onAgain }: Props) {
  const isDone = report.reportStatusID === complete
  return (
    <Stack>
      <Facts
        facts={[
          ['Ordered', moment(report.createdDate)],
          ['By', report.username],
          ['Made', moment(report.completedDate)],
          ['As at', report.fromDate ? '' : day(report.date)],
          ['From', day(report.fromDate)],
          ['Until', report.fromDate ? day(report.toDate) : ''],
          ['As known at', moment(report.knownAt)],
        ]}
      />
      {report.reportStatusID === failed && (
        <Failure error={new Error(report.errorMessage ?? 'It failed.')} />
      )}
      <Actions report={report} onClose={onClose} onAgain={onAgain} />
      {isDone && report.format === 'pdf' && <Shown report={report} />}
      {isDone && report.format === 'zip' && <Deliveries report={report} />}
    </Stack>
  )
}

const fileOf = (reportID: number | null) => api.file('/Report/File', { ReportID: reportID })

function Actions({ report, onClose, onAgain }: Props) {
  const may = useMay()
  const { reportID, format, reportStatusID } = report
  const download = () =>
    fileOf(reportID).then((file) => save(file, `${report.name}.${format}`), tellFailure)
  return (
    <Group>
      {reportStatusID === complete && (
        <Button leftSection={<Icon name="download" size={16} />} onClick={() => void download()}>
          Download
        </Button>
      )}
      {may('Report.Write') && (
        <>
          <Button variant="default" onClick={() => onAgain(report)}>
            Order again
          </Button>
          <Remove
            path="/Report"
            params={{ ReportID: reportID ?? 0 }}
            what="the report"
            done="The report and its file are deleted."
            onDone={onClose}
          >
            Its file is deleted too. You can order it again with the data as known then.
          </Remove>
        </>
      )}
    </Group>
  )
}

function Shown({ report: { reportID, name } }: { report: Report }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['report file', reportID],
    queryFn: () => fileOf(reportID),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (error) return <Failure error={error} retry={() => void refetch()} />
  return data ? <FileView blob={data} name={name ?? 'Report'} /> : <Loading />
}
