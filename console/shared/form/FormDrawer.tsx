import { Drawer, type DrawerProps } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { LeaveDialog } from './LeaveGuard.tsx'

/** A drawer with a form in it: by Escape, or beside it, what was typed is not lost unasked. */
export function FormDrawer({ opened, onClose, children, ...props }: DrawerProps) {
  const [typed, setTyped] = useState(false)
  const [asked, setAsked] = useState(false)
  // Who has saved and comes again begins anew.
  if (!opened && (typed || asked)) {
    setTyped(false)
    setAsked(false)
  }
  const note = ({ currentTarget, target }: FormEvent<HTMLDivElement>) => {
    // What opens over the drawer has its own forms.
    if (currentTarget.contains(target as Node)) setTyped(true)
  }
  // Asked at once, the dialog would hear the very Escape that has asked for it.
  const close = () => (typed ? setTimeout(() => setAsked(true)) : onClose())
  return (
    <>
      <Drawer {...props} opened={opened} onClose={close} closeOnEscape={!asked}>
        <div onInput={note} onSubmit={() => setTyped(false)}>
          {children}
        </div>
      </Drawer>
      <LeaveDialog opened={asked} onLeave={onClose} onStay={() => setAsked(false)} />
    </>
  )
}
