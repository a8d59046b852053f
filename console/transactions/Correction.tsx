import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Tagged } from '../shared/api/tagged.ts'
import type { BizTransaction } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { DateField, DecimalField } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { tagged: Tagged<BizTransaction>; onDone: () => void }

/** Corrects a transaction; its former values stay on record. */
export function Correction({ tagged, onDone }: Props) {
  const { record: transaction } = tagged
  const form = useForm({
    initialValues: {
      transactionDate: (transaction.transactionDate ?? '').slice(0, 10),
      amount: transaction.amount ?? '',
      quantity: transaction.quantity ?? '',
      investmentPrice: transaction.investmentPrice ?? '',
      comment: transaction.comment ?? '',
      externalBizTransactionId: transaction.externalBizTransactionId ?? '',
    },
  })
  const save = useWrite('put', '/BizTransaction', {
    tagged,
    onKept: onDone,
    onDone: () => {
      tellDone('The transaction is corrected; the version before is kept.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  /**
   * Send only the figures that were changed, so that the service recalculates the others from them.
   */
  const submit = form.onSubmit((values) => {
    const { comment, externalBizTransactionId, ...figures } = values
    const touched = Object.entries(figures).filter(([field]) => form.isDirty(field))
    save.mutate({
      bizTransactionID: transaction.bizTransactionID,
      comment,
      externalBizTransactionId,
      ...Object.fromEntries(touched),
    })
  })
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <DateField label="Day" {...form.getInputProps('transactionDate')} />
        <DecimalField label="Amount" {...form.getInputProps('amount')} />
        <DecimalField label="Units" {...form.getInputProps('quantity')} />
        <DecimalField label="Price" {...form.getInputProps('investmentPrice')} />
        <TextInput label="Comment" {...form.getInputProps('comment')} />
        <TextInput label="External id" {...form.getInputProps('externalBizTransactionId')} />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Correct
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
