import { Button, type ButtonProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useDelete } from '../api/write.ts'
import { tellDone } from '../view/Failure.tsx'
import { Confirm } from './Confirm.tsx'

type Props = {
  path: string
  /** The id of the record, as the operation names it. */
  params: Record<string, number>
  /** The kind of record in words: "rate". */
  what: string
  /** The message shown after the deletion. */
  done: string
  onDone: () => void
  /** The action in words where it is not "Delete": "Release". */
  verb?: string
  button?: ButtonProps & { 'aria-label'?: string }
  /** The consequences, in words. */
  children: ReactNode
}

/** Deletes a record after telling the user the consequences. */
export function Remove(props: Props) {
  const { path, params, what, done, onDone, verb = 'Delete', button, children } = props
  const [asked, setAsked] = useState(false)
  const remove = useDelete(path, {
    onDone: () => {
      tellDone(done)
      onDone()
    },
    onKept: () => setAsked(false),
  })
  return (
    <>
      <Button variant="default" {...button} onClick={() => setAsked(true)}>
        {verb}
      </Button>
      <Confirm
        title={`${verb} ${what}?`}
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => remove.mutate(params)}
        action={`${verb} ${what}`}
        busy={remove.isPending}
        error={remove.error}
        danger
      >
        {children}
      </Confirm>
    </>
  )
}
