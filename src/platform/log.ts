import { type DestinationStream, pino } from 'pino'

/** Never in a log, whoever puts them there; what we log on purpose holds none of them. */
const secrets = [
  'password',
  'currentPassword',
  'newPassword',
  'authorization',
  'accessToken',
  'refreshToken',
  'taxationFileNumber',
  'tin',
  'taxationCountryTIN',
  'taxationCountryTIN2',
  'taxationCountryTIN3',
  'passportNumber',
  'driversLicenseNumber',
  'identificationValue',
  'accountNumber',
  'chequeAccountNumber',
  'intermediaryBankAccountNumber',
  'iban',
  'connectionString',
]

/**
 * To the standard output, some lines at a time: to write each by itself took a tenth of what a
 * request costs. What a killed process leaves unsaid is at most this many milliseconds old.
 */
const standardOutput = () => pino.destination({ sync: false, minLength: 4096, periodicFlush: 100 })

export const createLog = (level: string, destination: DestinationStream = standardOutput()) =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    },
    destination,
  )

export type Log = ReturnType<typeof createLog>

/**
 * An error for the log. PostgreSQL's detail and parameters quote the row, so they stay out; so do
 * its words about a value that it could not read (class 22) or that somebody's trigger refused.
 */
export function errorForLog(error: unknown) {
  if (!(error instanceof Error)) return undefined
  const { name, message, stack, code, constraint, table } = error as Error & Record<string, unknown>
  if (!/^(22...|P0001)$/.test(String(code)))
    return { type: name, message, stack, code, constraint, table }
  const told = 'PostgreSQL refused a value; its words are left out, as they may quote it'
  return { type: name, message: told, stack: stack?.replace(message, told), code, table }
}
