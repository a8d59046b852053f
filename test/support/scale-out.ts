import { readFileSync } from 'node:fs'

/** The tables that the file of `cli distribute` leaves as they are, by name: a comment says so. */
export const readStaying = (): string[] =>
  (/^-- stays: (.*)$/m.exec(readFileSync('scale-out/distribute.sql', 'utf8'))?.[1] ?? '').split(
    ', ',
  )
