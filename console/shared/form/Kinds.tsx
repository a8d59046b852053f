import { Box, SegmentedControl } from '@mantine/core'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  data: { value: string; label: string }[]
}

/** One kind of several, side by side: where the screen is narrower, they scroll under its edge. */
export const Kinds = ({ label, ...props }: Props) => (
  <Box style={{ overflowX: 'auto' }}>
    <SegmentedControl aria-label={label} fullWidth miw="max-content" {...props} />
  </Box>
)
