import { Alert, Button, Center, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import mark from '../mark.svg'
import { renew, signOut } from '../shared/api/session.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Enrol, keepCodes } from './SecondFactor.tsx'

/** Where a second factor is required, a user without one must set it up before anything else. */
export function EnrolFirst() {
  const [codes, setCodes] = useState<string[]>()
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack className="card" w={480} maw="100%" p={28} gap="md">
        <div>
          <img src={mark} width={36} height={36} alt="" />
          <Title order={1} mt={10}>
            Set up your second factor
          </Title>
          <Text size="sm" className="quiet">
            This registry asks for a code of an authenticator beside the password. It takes a
            minute, once.
          </Text>
        </div>
        {codes ? (
          <>
            <Alert color="yellow">{keepCodes}</Alert>
            <Code block>{codes.join('\n')}</Code>
            <Group justify="flex-end">
              <Button onClick={() => void renew().catch(tellFailure)}>I have kept them</Button>
            </Group>
          </>
        ) : (
          <>
            <Enrol onCodes={setCodes} />
            <Group justify="flex-start">
              <Button
                variant="subtle"
                size="compact-sm"
                onClick={() => void signOut().catch(tellFailure)}
              >
                Sign out
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Center>
  )
}
