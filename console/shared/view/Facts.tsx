import { Box, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './facts.module.css'

export type Fact = [label: string, value: ReactNode]

/** Labels and values in as many columns as fit; empty values are left out. */
export const Facts = ({ facts }: { facts: Fact[] }) => (
  <dl className={classes.facts}>
    {facts
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

type FigureProps = { label: string; value: ReactNode; note?: ReactNode; href?: ReactNode }

/** One figure of a page's head. */
export const Figure = ({ label, value, note }: FigureProps) => (
  <Box className={classes.figure}>
    <Text size="xs" className="quiet">
      {label}
    </Text>
    <div className={classes.value}>{value}</div>
    {note && (
      <Text size="xs" className="quiet long" component="div">
        {note}
      </Text>
    )}
  </Box>
)

export const Figures = ({ children }: { children: ReactNode }) => (
  <div className={`card ${classes.figures}`}>{children}</div>
)
