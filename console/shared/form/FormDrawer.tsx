import { Box, Drawer, type DrawerProps } from '@mantine/core'
import { type SyntheticEvent, useRef, useState } from 'react'
import { Saved, ShownOnce } from '../api/saved.ts'
import classes from './form.module.css'
import { LeaveDialog, LeaveGuard, type Why } from './LeaveGuard.tsx'

/**
 * Whether an event comes from inside the drawer in the page: dialogs over it are inside it only for
 * React, and have their own forms.
 */
const isWithin = ({ currentTarget, target }: SyntheticEvent) =>
  currentTarget.contains(target as Node)

const isOnTop = (body: HTMLElement | null) =>
  [...document.querySelectorAll('[role=dialog]')].at(-1)?.contains(body) ?? true

/** The first field of a form, unless focusing it would open a list. */
const firstField = (body: HTMLElement) => {
  const field = body.querySelector<HTMLElement>('form input, form textarea, form button')
  return field?.matches('input:not([aria-haspopup]), textarea') ? field : undefined
}

/** A drawer with a form; it asks before entered values are lost, whichever way the user leaves. */
export function FormDrawer({ opened, onClose, children, ...props }: DrawerProps) {
  const [entered, setEntered] = useState(false)
  const [isOnce, setOnce] = useState(false)
  const [asked, setAsked] = useState(false)
  const why: Why | undefined = isOnce ? 'once' : entered ? 'unsaved' : undefined
  const focused = useRef<HTMLElement>(null)
  const body = useRef<HTMLDivElement>(null)
  // The drawer was closed: reset its state for the next opening.
  if (!opened && (entered || asked)) {
    setEntered(false)
    setAsked(false)
  }
  const close = () => {
    // Every open dialog receives Escape; only the topmost one may act on it.
    if (!isOnTop(body.current)) return
    // Opened at once, the question would receive the same Escape and close again.
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
          // A drawer that fades out ignores input, such as the second press of a double click.
          inert={!opened}
          onInput={(event) => isWithin(event) && setEntered(true)}
          // Choosing from a list raises no input event, and the list is drawn above the drawer.
          onClick={({ target }) => (target as Element).closest('[role=option]') && setEntered(true)}
          // The focus starts in the content, not on the close button.
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
