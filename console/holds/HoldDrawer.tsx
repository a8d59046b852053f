import type { Hold } from '../shared/api/types.ts'
import { Edited } from '../shared/form/Edited.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { HoldForm } from './HoldForm.tsx'

/** The hold shown, or a new hold: on any account, or on a given one. */
export type Opened = Hold | 'new' | { newFor: number } | undefined

export function HoldDrawer({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const isNew = opened === 'new' || (opened !== undefined && 'newFor' in opened)
  return (
    <FormDrawer
      opened={opened !== undefined}
      onClose={onClose}
      title={isNew ? 'Hold units back' : 'Hold'}
    >
      {opened === 'new' && <HoldForm onDone={onClose} />}
      {opened && opened !== 'new' && 'newFor' in opened && (
        <HoldForm accountID={opened.newFor} onDone={onClose} />
      )}
      {opened && opened !== 'new' && 'holdID' in opened && (
        <Edited<Hold> path="/Hold" params={{ HoldID: opened.holdID }}>
          {(tagged) => <HoldForm tagged={tagged} onDone={onClose} />}
        </Edited>
      )}
    </FormDrawer>
  )
}
