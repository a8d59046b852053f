import { Alert, Checkbox } from '@mantine/core'
import { useState } from 'react'
import { RegistryError } from '../api/error.ts'
import { Failure, inView } from '../view/Failure.tsx'
import { Icon } from '../view/icons.tsx'
import { ProblemLines } from '../view/ProblemLines.tsx'

/** Refusals that the service lifts when the user confirms that the values are right. */
const doubts = {
  price_too_old: 'Post at that price anyway',
  price_tolerance: 'The price is right: enter it anyway',
  second_distribution: 'Both are meant: declare this one too',
  same_file: 'The rows are meant twice: import the file again',
}

/**
 * Whether the user insists on the values entered; a later change of the values ends the insistence.
 */
export function useInsists(entered: unknown) {
  const text = JSON.stringify(entered)
  const [on, setOn] = useState<string>()
  const change = (insists: boolean) => setOn(insists ? text : undefined)
  return [on === text, change] as const
}

type Props = {
  error: Error | null | undefined
  insists: boolean
  onChange: (insists: boolean) => void
}

/** Shows a refusal; where the user may insist, it also asks for that. */
export function Insist({ error, insists, onChange }: Props) {
  if (!error) return null
  const known = error instanceof RegistryError && error.problems.length > 0 ? error.problems : []
  const codes = Object.keys(doubts) as (keyof typeof doubts)[] // all keys of `doubts`
  const code = codes.find((one) => known.some((problem) => problem.code === one))
  if (!code) return <Failure error={error} />
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="alert" />} role="alert" {...inView}>
      <ProblemLines error={error} />
      <Checkbox
        mt="sm"
        label={doubts[code]}
        checked={insists}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </Alert>
  )
}
