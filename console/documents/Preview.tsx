import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../shared/api/client.ts'
import type { Document } from '../shared/api/types.ts'
import { save } from '../shared/list/export.ts'
import { Failure } from '../shared/view/Failure.tsx'
import { FileView } from '../shared/view/FileView.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Loading } from '../shared/view/Page.tsx'

/** Shows the file of a document, after asking for its password if it has one. */
export function Preview({ document }: { document: Document }) {
  const { documentID, hasPassword, fileName } = document
  const [typed, setTyped] = useState('')
  const [password, setPassword] = useState<string>()
  const file = useQuery({
    // Not cached: the password must be entered again to see the file again.
    queryKey: ['document', documentID, password],
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: !hasPassword || password !== undefined,
    queryFn: () =>
      api.file(
        '/Document/File',
        { DocumentID: documentID },
        password ? { 'X-Document-Password': password } : {},
      ),
  })
  useEffect(() => {
    if (file.error) setTyped('')
  }, [file.error])
  if (file.data)
    return (
      <Stack gap="xs">
        <Group>
          <Button
            variant="default"
            leftSection={<Icon name="download" size={16} />}
            onClick={() => file.data && save(file.data, fileName ?? 'document')}
          >
            Download
          </Button>
        </Group>
        <FileView blob={file.data} name={document.name ?? fileName ?? 'Document'} />
      </Stack>
    )
  if (file.isLoading) return <Loading />
  return (
    <Stack gap="sm">
      {file.error && <Failure error={file.error} />}
      {hasPassword && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            setPassword(typed)
          }}
        >
          <Text size="sm">The file has a password of its own.</Text>
          <Group align="flex-end" mt={4}>
            <PasswordInput
              label="Password of the file"
              autoComplete="off"
              w={260}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
            <Button type="submit" disabled={!typed}>
              Open
            </Button>
          </Group>
        </form>
      )}
    </Stack>
  )
}
