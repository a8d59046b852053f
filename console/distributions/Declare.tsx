import { Box, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAnew } from '../shared/api/anew.ts'
import { api } from '../shared/api/client.ts'
import { useCurrency, useMoney, useUnits } from '../shared/api/money.ts'
import { useRead } from '../shared/api/products.ts'
import type { Distribution } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { Edited } from '../shared/form/Edited.tsx'
import { Insist, useInsists } from '../shared/form/Insist.tsx'
import { counted, day } from '../shared/format.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card, Loading } from '../shared/view/Page.tsx'
import { DistributionForm } from './DistributionForm.tsx'
import { keyOf, readBy } from './key.ts'
import { type Preview, Previewed } from './Previewed.tsx'

type Props = { distribution: Distribution; may: boolean }

/** A preview of the declaration, with the button for users who may declare. */
export function Declare({ distribution, may }: Props) {
  const { productID, corporateActionID } = distribution
  const currency = useCurrency()(distribution)
  const money = useMoney(distribution)
  const units = useUnits(distribution)
  const [mode, setMode] = useState<'edit' | 'declare'>()
  const [insists, setInsists] = useInsists(distribution)
  const close = () => setMode(undefined)
  const preview = useQuery({
    queryKey: ['preview', distribution],
    queryFn: async () => {
      const asked = { ...keyOf(distribution), compareWithLast: true }
      return (await api.post<Preview>('/Distribution/Preview', asked)).data
    },
  })
  const declare = useWrite('post', '/Distribution/Declare', {
    onDone: (_data, message) => {
      tellDone(message || 'The distribution is declared.')
      close()
    },
    onKept: close,
  })
  const anew = useAnew(useRead('/Distribution', readBy(productID, corporateActionID)), preview)
  const ask = () => {
    anew.readAnew()
    setMode('declare')
  }
  if (mode === 'edit')
    return (
      <Edited<Distribution> path="/Distribution" params={readBy(productID, corporateActionID)}>
        {(tagged) => <DistributionForm tagged={tagged} onDone={close} onKept={close} />}
      </Edited>
    )
  return (
    <Card
      title="Preview"
      actions={
        may && (
          <>
            <Button variant="default" onClick={() => setMode('edit')}>
              Change
            </Button>
            <Button disabled={!preview.data} onClick={ask}>
              Declare
            </Button>
          </>
        )
      }
    >
      {preview.error && <Failure error={preview.error} retry={() => void preview.refetch()} />}
      {preview.isPending && <Loading />}
      {preview.data && <Previewed preview={preview.data} {...{ money, units, currency }} />}
      <Confirm
        title="Declare this distribution?"
        opened={mode === 'declare'}
        onClose={close}
        onConfirm={() =>
          declare.mutate({ ...keyOf(distribution), ...(insists && { confirmSecond: true }) })
        }
        action="Declare"
        busy={declare.isPending}
        anew={anew}
      >
        The entitlements of {counted(preview.data?.accountCount ?? 0, 'account')} as at{' '}
        {day(distribution.recordDate)} are locked: {money(preview.data?.grossAmount)} {currency}.
        Transactions entered later, even back-dated, do not change them.
        <Box mt="sm">
          <Insist error={declare.error} insists={insists} onChange={setInsists} />
        </Box>
      </Confirm>
    </Card>
  )
}
