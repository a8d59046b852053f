import { Button, type ButtonProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useDelete } from '../api/write.ts'
import { tellDone } from '../view/Failure.tsx'
import { Confirm } from './Confirm.tsx'

type Props = {
  path: string
  /** Which record: its id, as the operation names it. */
  params: Record<string, number>
  /** What it is, in words: "rate". */
  what: string
  /** What is told once it is gone. */
  done: string
  onDone: () => void
  /** Where it is not simply deleted: "Release". */
  verb?: string
  button?: ButtonProps & { 'aria-label'?: string }
  /** What follows from it. */
  children: ReactNode
}

/** Deletes a record, after saying what follows. */
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
