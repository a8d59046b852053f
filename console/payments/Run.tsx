import { Stack, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useSeen } from '../frame/recent.ts'
import { useCurrency, useMoney } from '../shared/api/money.ts'
import { useProduct, useReadNow } from '../shared/api/products.ts'
import type { PaymentRun } from '../shared/api/types.ts'
import { beside, bytes, count, counted, day, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { useMay } from '../shared/permission.ts'
import { AccountLink } from '../shared/view/AccountLink.tsx'
import { Facts, Figure, Figures } from '../shared/view/Facts.tsx'
import { Card, Missing, Page } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { Steps } from '../shared/view/Steps.tsx'
import { Download } from './Download.tsx'
import { readBy } from './key.ts'
import { RunPayments } from './RunPayments.tsx'
import { exceptionReasons, State } from './states.tsx'
import { NextStep } from './steps.tsx'

const states = ['Draft', 'Approved', 'Sent', 'Closed']

/** One payment run: its state, its next step, amounts that cannot be paid, and all its payments. */
export function Run() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { productID, slug } = useProduct()
  const [run] = useReadNow<PaymentRun[]>('/PaymentRun', readBy(productID, id))
  useSeen(`/${slug}/payments/${id}`, `Payment run ${id}`, 'Payments', run !== undefined)
  if (!run)
    return (
      <Missing title="No such payment run" back={{ to: `/${slug}/payments`, label: 'Payments' }}>
        It may be of another product.
      </Missing>
    )
  return (
    <Page
      title={`Payment run ${id}`}
      back={{ to: `/${slug}/payments`, label: 'Payments' }}
      aside={<State of={run.state} />}
    >
      <Card>
        <Steps
          active={states.indexOf(run.state ?? '') + 1}
          steps={[
            { label: 'Draft', description: moment(run.createdDate) },
            { label: 'Approved', description: moment(run.approvedDate) || 'By somebody else' },
            { label: 'Sent', description: moment(run.sentDate) || 'To the bank' },
            { label: 'Closed', description: moment(run.closedDate) || 'Nothing open' },
          ]}
        />
      </Card>
      <Stack>
        <NextStep run={run} />
        <Totals run={run} />
        <Files run={run} />
        <Exceptions run={run} />
        <RunPayments run={run} />
      </Stack>
    </Page>
  )
}

function Totals({ run }: { run: PaymentRun }) {
  const currency = useCurrency()(run)
  const money = useMoney(run)
  const { payable, payments, exceptions } = run
  return (
    <>
      <Figures>
        <Figure label={`Payable, ${currency}`} value={money(payable?.amount)} />
        <Figure
          label={`Paid by this run, ${currency}`}
          value={money(payments?.amount)}
          note={counted(payments?.count ?? 0, 'payment')}
        />
        <Figure
          label="Left out"
          value={money(exceptions?.amount)}
          note={exceptions?.count ? `${count(exceptions.count)} to clear` : 'No exception'}
        />
      </Figures>
      <Card title="About">
        <Facts
          facts={[
            ['Money owed for', beside(run.sources, ', ')],
            ['Owed until', day(run.upToDate)],
            ['Processing date', day(run.processingDate)],
            ['Format', run.format],
            ['Reissue of run', run.reissueOf],
          ]}
        />
      </Card>
    </>
  )
}

type File = PaymentRun['files'][number]

function Files({ run }: { run: PaymentRun }) {
  const may = useMay()
  const currency = useCurrency()(run)
  const money = useMoney(run)
  if (run.files.length === 0) return null
  const columns: Column<File>[] = [
    { id: 'name', title: 'File', text: ({ fileName }) => fileName },
    { id: 'count', title: 'Payments', right: true, text: (file) => count(file.paymentCount) },
    { id: 'amount', title: currency, right: true, text: ({ amount }) => money(amount) },
    { id: 'size', title: 'Size', right: true, text: ({ size }) => bytes(size) },
    {
      id: 'hash',
      title: 'SHA-256',
      text: ({ sha256 }) => sha256,
      cell: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, 12)}…</code>,
    },
    {
      id: 'get',
      title: 'Download',
      text: () => '',
      cell: (file) => may('PaymentDetail.Read') && <Download run={run} file={file} />,
    },
  ]
  const warnings = run.files.flatMap((file) => file.warnings)
  return (
    <Card title="Bank files" padded={false}>
      <Rows
        label="Bank files"
        columns={columns}
        rows={run.files}
        keyOf={(file) => file.fileNumber}
      />
      {warnings.map((warning) => (
        <Text key={warning} size="sm" px="md" py={4} className="quiet">
          {warning}
        </Text>
      ))}
    </Card>
  )
}

type Exception = PaymentRun['exceptionList'][number]

function Exceptions({ run }: { run: PaymentRun }) {
  const currency = useCurrency()(run)
  const money = useMoney(run)
  if (run.exceptionList.length === 0) return null
  const columns: Column<Exception>[] = [
    {
      id: 'account',
      title: 'Account',
      text: ({ accountNumber }) => accountNumber,
      cell: ({ accountNumber }) => <AccountLink number={accountNumber} />,
    },
    { id: 'amount', title: currency, right: true, text: ({ amount }) => money(amount) },
    { id: 'why', title: 'Why', text: ({ code }) => exceptionReasons[code] ?? code },
  ]
  return (
    <Card title="Exceptions" padded={false}>
      <Text size="sm" px="md" pb="xs" className="quiet">
        These are not paid by this run. Once they are corrected, the next run pays them.
      </Text>
      <div style={{ maxHeight: 320, overflowY: 'auto' }}>
        <Rows
          label="Exceptions"
          columns={columns}
          rows={run.exceptionList}
          keyOf={({ bizTransactionID }) => bizTransactionID}
        />
      </div>
    </Card>
  )
}
