import type { Hold } from '../shared/api/types.ts'
import { Remove } from '../shared/form/Remove.tsx'

/** Releases a hold, so that its units can leave the account again. */
export const Release = ({ hold, onDone }: { hold: Hold; onDone: () => void }) => (
  <Remove
    path="/Hold"
    params={{ HoldID: hold.holdID ?? 0 }}
    verb="Release"
    what="the units"
    done="The units are free again."
    onDone={onDone}
  >
    From then on they can be redeemed, transferred and converted. Who held them back, when and why
    stays in the audit trail.
  </Remove>
)
