import { Button, Group, Select, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../shared/api/client.ts'
import { useProduct } from '../shared/api/products.ts'
import type { BizEntity, BizTransaction } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Insist, useInsists } from '../shared/form/Insist.tsx'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { useLeave } from '../shared/form/leave.ts'
import { fieldErrors, inLines } from '../shared/form/problems.ts'
import { count, day, plain } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { tellDone } from '../shared/view/Failure.tsx'
import { Card, Page } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { Tag } from '../shared/view/Status.tsx'
import { type Kind, kinds } from './kinds.ts'
import { type Line, readPasted, usualOrder } from './pasted.ts'

/** Two-legged kinds have too many columns to recognise; they are imported as files instead. */
const oneLegged = Object.entries(kinds).filter(
  ([, { way }]) => way !== 'transfer' && way !== 'conversion',
)
const most = 1000
const words: Record<string, string> = {
  accountNumber: 'Account',
  securityCode: 'Class',
  transactionDate: 'Day',
  quantity: 'Units',
  amount: 'Amount',
  externalBizTransactionId: 'External id',
  comment: 'Comment',
}

type Found = { accountID: number; name: string }
/** A line with its account, once looked up, and the problem that the service found in it. */
type Checked = Line & { found?: Found | 'none'; refused?: string }

/** Posts many pasted lines of one kind: all of them are posted, or none. */
export function PasteTransactions() {
  const { productID, slug } = useProduct()
  const [name, setName] = useState('Deposit')
  const [text, setText] = useState('')
  const [saved, leave] = useLeave()
  const list = `/${slug}/transactions`
  const [insists, setInsists] = useInsists([name, text])
  const kind = kinds[name] as Kind
  const post = useWrite<BizTransaction[]>('post', kind.path, {
    onDone: (posted) => {
      tellDone(`${count(posted.length)} transactions are posted.`)
      leave(list)
    },
    onKept: () => leave(list),
  })
  const pasted = readPasted(text, kind)
  // A header line is not sent, so records and line numbers differ.
  const error = inLines(
    post.error,
    pasted.map(({ number }) => number),
  )
  const lines = useChecked(pasted, error)
  const good = lines.flatMap((line) => {
    const { problem, found, cells } = line
    return problem || !found || found === 'none' ? [] : [{ cells, accountID: found.accountID }]
  })
  const send = () =>
    post.mutate(
      good.map(({ cells: { accountNumber: _, ...cells }, accountID }) => ({
        productID,
        accountID,
        ...cells,
        ...(insists && { confirm: true }),
      })),
    )
  const edit = (next: string) => {
    post.reset()
    setText(next)
  }
  return (
    <Page title="Paste transactions" back={{ to: list, label: 'Transactions' }} narrow>
      <LeaveGuard dirty={text !== '' && !saved} />
      <Card>
        <Stack gap="sm">
          <Select
            label="What they are"
            data={oneLegged.map(([value, { label }]) => ({ value, label }))}
            value={name}
            onChange={(next) => {
              post.reset()
              setName(next ?? 'Deposit')
            }}
            allowDeselect={false}
            maw={260}
          />
          <Textarea
            label="Rows, as a spreadsheet copies them"
            description={`The columns: ${columnsOf(kind)}. A first row of headings may say otherwise.`}
            placeholder={'1000001\tORD\t30/06/2026\t5,000.00\tD-1001'}
            autosize
            minRows={6}
            maxRows={14}
            value={text}
            onChange={(event) => edit(event.currentTarget.value)}
          />
        </Stack>
      </Card>
      <Insist error={error} insists={insists} onChange={setInsists} />
      {lines.length > 0 && <Preview lines={lines} />}
      <Group justify="space-between">
        <Text size="sm" className="quiet">
          {lines.length > 0 && `${count(good.length)} of ${count(lines.length)} rows can be posted`}
          {lines.length > most && `; at most ${count(most)} at once, more come in by Import`}
        </Text>
        <Button
          disabled={good.length === 0 || good.length < lines.length || lines.length > most}
          loading={post.isPending || saved}
          onClick={send}
        >
          {lines.length > 0 ? `Post all ${count(lines.length)}` : 'Post all'}
        </Button>
      </Group>
    </Page>
  )
}

const columnsOf = (kind: Kind) =>
  usualOrder(kind)
    .map((field) => words[field])
    .join(', ')

const shown = 200

const Preview = ({ lines }: { lines: Checked[] }) => (
  <Card title="What would be posted" padded={false}>
    <Rows
      label="Pasted rows"
      columns={previewColumns}
      rows={wrongFirst(lines).slice(0, shown)}
      keyOf={({ number }) => number}
    />
    {lines.length > shown && (
      <Text size="sm" className="quiet" p="md">
        And {count(lines.length - shown)} more.
      </Text>
    )}
  </Card>
)

const wrongOf = ({ problem, found, refused }: Checked) =>
  problem ?? refused ?? (found === 'none' ? 'No such account' : undefined)

/** Lines with problems come first, where they are seen. */
const wrongFirst = (lines: Checked[]) => [
  ...lines.filter((line) => wrongOf(line)),
  ...lines.filter((line) => !wrongOf(line)),
]

const nameOf = ({ found }: Checked) => (found && found !== 'none' ? found.name : '')

const previewColumns: Column<Checked>[] = [
  { id: 'line', title: 'Line', text: ({ number }) => String(number) },
  { id: 'account', title: 'Account', text: ({ cells }) => cells.accountNumber ?? '' },
  { id: 'investor', title: 'Investor', text: nameOf },
  { id: 'class', title: 'Class', text: ({ cells }) => cells.securityCode ?? '' },
  { id: 'day', title: 'Day', text: ({ cells }) => day(cells.transactionDate) },
  { id: 'units', title: 'Units', right: true, text: ({ cells }) => plain(cells.quantity) },
  { id: 'amount', title: 'Amount', right: true, text: ({ cells }) => plain(cells.amount) },
  {
    id: 'state',
    title: 'State',
    text: (line) => wrongOf(line) ?? 'Good',
    cell: (line) => <Tag tone={wrongOf(line) ? 'wrong' : 'good'}>{wrongOf(line) ?? 'Good'}</Tag>,
  },
]

/** The lines with their investors, and the problem that the service found in each. */
function useChecked(lines: Line[], error: Error | null): Checked[] {
  const { productID } = useProduct()
  const numbers = [...new Set(lines.flatMap(({ cells }) => cells.accountNumber ?? []))].toSorted()
  const { data } = useQuery({
    queryKey: ['accounts by number', productID, numbers],
    enabled: numbers.length > 0,
    queryFn: () => accountsOf(productID, numbers),
  })
  const refused = Object.entries(fieldErrors(error)).map(([path, message]) => ({
    index: Number(/^\d+/.exec(path)?.[0] ?? -1),
    message,
  }))
  return lines.map((line, i) => {
    const found = data && (data.get(line.cells.accountNumber ?? '') ?? 'none')
    const words = refused.filter(({ index }) => index === i).map(({ message }) => message)
    return {
      ...line,
      ...(found && { found }),
      ...(words.length > 0 && { refused: words.join(' ') }),
    }
  })
}

const step = 100

async function accountsOf(productID: number, numbers: string[]) {
  const found = new Map<string, Found>()
  for (let from = 0; from < numbers.length; from += step) {
    const { data } = await api.get<BizEntity[]>('/BizEntity', {
      ProductID: productID,
      'AccountNumber.in': numbers.slice(from, from + step).join(','),
      PageSize: 1000,
    })
    for (const { name, accounts } of data)
      for (const { accountID, accountNumber, productID: product } of accounts)
        if (accountID && accountNumber && product === productID)
          found.set(accountNumber, { accountID, name: name ?? '' })
  }
  return found
}
