import { Box, Drawer, type DrawerProps } from '@mantine/core'
import { type SyntheticEvent, useRef, useState } from 'react'
import { Saved, ShownOnce } from '../api/saved.ts'
import classes from './form.module.css'
import { LeaveDialog, LeaveGuard, type Why } from './LeaveGuard.tsx'

/** What opens over a drawer is in it for React alone, and has its own forms. */
const isWithin = ({ currentTarget, target }: SyntheticEvent) =>
  currentTarget.contains(target as Node)

const isOnTop = (body: HTMLElement | null) =>
  [...document.querySelectorAll('[role=dialog]')].at(-1)?.contains(body) ?? true

/** The first field of a form, where what is typed has no list that would fall open. */
const firstField = (body: HTMLElement) => {
  const field = body.querySelector<HTMLElement>('form input, form textarea, form button')
  return field?.matches('input:not([aria-haspopup]), textarea') ? field : undefined
}

/** A drawer with a form in it: what was entered is not lost unasked, by whichever way one leaves. */
export function FormDrawer({ opened, onClose, children, ...props }: DrawerProps) {
  const [entered, setEntered] = useState(false)
  const [isOnce, setOnce] = useState(false)
  const [asked, setAsked] = useState(false)
  const why: Why | undefined = isOnce ? 'once' : entered ? 'unsaved' : undefined
  const focused = useRef<HTMLElement>(null)
  const body = useRef<HTMLDivElement>(null)
  // Who has saved and comes again begins anew.
  if (!opened && (entered || asked)) {
    setEntered(false)
    setAsked(false)
  }
  const close = () => {
    // Every dialog hears Escape: it is about the one on top.
    if (!isOnTop(body.current)) return
    // Asked at once, the dialog would hear the very Escape that has asked for it.
    if (why) setTimeout(() => setAsked(true))
    else onClose()
  }
  const stay = () => {
    setAsked(false)
    focused.current?.focus()
  }
  return (
    <>
      <Drawer {...props} opened={opened} onClose={close} closeOnEscape={!asked}>
        <Box
          ref={body}
          // What fades out is done with: the second press of a double click is not about it.
          inert={!opened}
          onInput={(event) => isWithin(event) && setEntered(true)}
          // What is chosen from a list is no input, and stands over the drawer.
          onClick={({ target }) => (target as Element).closest('[role=option]') && setEntered(true)}
          // Whoever opens it is at its content, and not at the button that closes it.
          data-autofocus
          tabIndex={-1}
          className={classes.body}
          onFocus={(event) => {
            if (event.target === event.currentTarget) firstField(event.currentTarget)?.focus()
            if (isWithin(event)) focused.current = event.target
          }}
        >
          <Saved value={() => setEntered(false)}>
            <ShownOnce value={setOnce}>{children}</ShownOnce>
          </Saved>
        </Box>
      </Drawer>
      <LeaveDialog opened={asked} why={why} onLeave={onClose} onStay={stay} returnFocus={false} />
      {entered && !isOnce && <LeaveGuard dirty />}
    </>
  )
}
