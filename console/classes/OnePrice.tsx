import { Button, Group, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLookups } from '../shared/api/lookups.ts'
import { useMoney, useUnits } from '../shared/api/money.ts'
import { useRead } from '../shared/api/products.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { AffectedTransaction, InvestmentPrice } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { DecimalField, Row } from '../shared/form/fields.tsx'
import { Insist, useInsists } from '../shared/form/Insist.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { day, price as priceText } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { useMay } from '../shared/permission.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card, Empty, Loading } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'

type Props = { tagged: Tagged<InvestmentPrice>; onDone: () => void }

/** One price, with a form to correct it and the transactions that were posted at it. */
export function OnePrice({ tagged, onDone }: Props) {
  const may = useMay()
  return (
    <Stack>
      {may('Investment.Write') && <PriceForm tagged={tagged} onDone={onDone} />}
      {may('BizTransaction.Read') && <Affected price={tagged.record} />}
    </Stack>
  )
}

function PriceForm({ tagged, onDone }: Props) {
  const { record: price } = tagged
  const form = useForm({
    initialValues: {
      price: price.price ?? '',
      applicationPrice: price.applicationPrice ?? '',
      redemptionPrice: price.redemptionPrice ?? '',
    },
  })
  const [insists, setInsists] = useInsists(form.values)
  const save = useWrite<InvestmentPrice[]>('put', '/Investment/Price', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone('The price is corrected; what was posted at it stays as it was posted.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const submit = form.onSubmit((values) =>
    save.mutate({
      investmentPriceID: price.investmentPriceID,
      ...values,
      ...(insists && { confirm: true }),
    }),
  )
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Insist error={save.error} insists={insists} onChange={setInsists} />
        <Row narrow>
          <DecimalField label="Unit price" required {...form.getInputProps('price')} />
          <DecimalField label="Application" {...form.getInputProps('applicationPrice')} />
          <DecimalField label="Redemption" {...form.getInputProps('redemptionPrice')} />
        </Row>
        <Group justify="space-between">
          <Remove
            path="/Investment/Price"
            params={{ InvestmentPriceID: price.investmentPriceID ?? 0 }}
            what="the price"
            done="The price is deleted."
            onDone={onDone}
          >
            From {day(price.priceDate)} on holdings are then valued at the price before it.
          </Remove>
          <Button type="submit" loading={save.isPending}>
            Correct the price
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const most = 100

/** The transactions posted at the price, or at its value before a correction. */
function Affected({ price }: { price: InvestmentPrice }) {
  const { name } = useLookups()
  const money = useMoney(price)
  const units = useUnits(price)
  const { data, error } = useRead<AffectedTransaction[]>('/Investment/Price/Affected', {
    InvestmentPriceID: price.investmentPriceID ?? 0,
    PageSize: most,
  })
  if (error) return <Failure error={error} />
  if (!data) return <Loading />
  const columns: Column<AffectedTransaction>[] = [
    {
      id: 'what',
      title: 'What',
      text: (row) =>
        `${name('BizTransactionType', row.bizTransactionTypeID)} ${row.bizTransactionID}`,
    },
    { id: 'day', title: 'Day', text: (row) => day(row.transactionDate) },
    { id: 'units', title: 'Units', right: true, text: (row) => units(row.quantity) },
    { id: 'amount', title: 'Amount', right: true, text: (row) => money(row.amount) },
    { id: 'at', title: 'Posted at', right: true, text: (row) => priceText(row.investmentPrice) },
    { id: 'now', title: 'Price now', right: true, text: (row) => priceText(row.currentPrice) },
  ]
  return (
    <Card title="Posted at this price" padded={false}>
      {data.length === 0 ? (
        <Empty title="Nothing">A correction touches no transaction.</Empty>
      ) : (
        <Rows
          label="Posted at this price"
          columns={columns}
          rows={data}
          keyOf={({ bizTransactionID }) => bizTransactionID ?? 0}
        />
      )}
      {data.length === most && (
        <Text size="sm" className="quiet" p="md">
          The first {most}; all of them are in the API.
        </Text>
      )}
    </Card>
  )
}
