import { Stepper } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'

type Step = { label: string; description: string }

/** The progress through steps, side by side, or below each other where there is no room for all. */
export function Steps({ active, steps }: { active: number; steps: Step[] }) {
  const isNarrow = useMediaQuery('(max-width: 1000px)')
  return (
    <Stepper
      active={active}
      size="sm"
      allowNextStepsSelect={false}
      iconSize={30}
      orientation={isNarrow ? 'vertical' : 'horizontal'}
    >
      {steps.map(({ label, description }) => (
        <Stepper.Step key={label} label={label} description={description} />
      ))}
    </Stepper>
  )
}
