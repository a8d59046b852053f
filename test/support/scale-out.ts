import { readFileSync } from 'node:fs'

/** The tables that `cli distribute` leaves as they are, read from a comment in its SQL file. */
export const readStaying = (): string[] =>
  (/^-- stays: (.*)$/m.exec(readFileSync('scale-out/distribute.sql', 'utf8'))?.[1] ?? '').split(
    ', ',
  )
