import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Hold } from '../shared/api/types.ts'
import { useDelete } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { tellDone } from '../shared/view/Failure.tsx'

/** Lets the units of a hold go again. */
export function Release({ hold, onDone }: { hold: Hold; onDone: () => void }) {
  const [asked, setAsked] = useState(false)
  const release = useDelete('/Hold', () => {
    tellDone('The units are free again.')
    onDone()
  })
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        Release
      </Button>
      <Confirm
        title="Release these units?"
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => release.mutate({ HoldID: hold.holdID ?? 0 })}
        action="Release the units"
        busy={release.isPending}
        error={release.error}
        danger
      >
        From then on they can be redeemed, transferred and converted. Who held them back, when and
        why stays in the audit trail.
      </Confirm>
    </>
  )
}
