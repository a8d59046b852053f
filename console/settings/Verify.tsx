import { Alert, Button, List, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { AuditVerification } from '../../src/access/audit/schema.ts'
import { api } from '../shared/api/client.ts'
import { count } from '../shared/format.ts'
import { Failure } from '../shared/view/Failure.tsx'
import { Loading } from '../shared/view/Page.tsx'

type Verification = Static<typeof AuditVerification>

/**
 * Asks the service to recompute the hash chain of the audit trail, to show that no record was
 * changed and none is missing.
 */
export function Verify() {
  const [opened, setOpened] = useState(false)
  const verify = useMutation<Verification, Error>({
    mutationFn: async () => (await api.get<Verification>('/Audit/Verify')).data,
  })
  const open = () => {
    setOpened(true)
    verify.mutate()
  }
  return (
    <>
      <Button variant="default" onClick={open}>
        Verify
      </Button>
      <Modal opened={opened} onClose={() => setOpened(false)} title="The audit trail">
        {verify.isPending && <Loading />}
        {verify.error && <Failure error={verify.error} />}
        {verify.data && <Outcome of={verify.data} />}
      </Modal>
    </>
  )
}

const Outcome = ({ of: { isWhole, records, seals, faults } }: { of: Verification }) => (
  <Stack>
    <Alert
      color={isWhole ? 'registry' : 'red'}
      title={isWhole ? 'It is whole' : 'It is not as it was sealed'}
    >
      <Text size="sm">
        {count(records)} records under {count(seals)} seals were recomputed.
      </Text>
    </Alert>
    {faults.length > 0 && (
      <List size="sm">
        {faults.map(({ kind, auditID, message }) => (
          <List.Item key={`${kind} ${auditID} ${message}`}>{message}</List.Item>
        ))}
      </List>
    )}
  </Stack>
)
