import { Box, SegmentedControl } from '@mantine/core'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  data: { value: string; label: string }[]
}

/** A choice of one kind among several, side by side; on a narrow screen they scroll. */
export const Kinds = ({ label, ...props }: Props) => (
  <Box style={{ overflowX: 'auto' }}>
    <SegmentedControl aria-label={label} fullWidth miw="max-content" {...props} />
  </Box>
)
