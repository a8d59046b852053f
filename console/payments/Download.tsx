import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../shared/api/client.ts'
import type { PaymentRun } from '../shared/api/types.ts'
import { save } from '../shared/list/export.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'

type Props = { run: PaymentRun; file: { fileNumber: number; fileName: string } }

/** Downloads the file for the bank; the service records who downloaded it, and when. */
export function Download({ run, file: { fileNumber, fileName } }: Props) {
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const params = { PaymentRunID: run.paymentRunID, FileNumber: fileNumber }
      save(await api.file('/PaymentRun/File', params), fileName)
    } catch (error) {
      tellFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={busy}
      leftSection={<Icon name="download" size={14} />}
      aria-label={`Download ${fileName}`}
      onClick={() => void download()}
    >
      Download
    </Button>
  )
}
