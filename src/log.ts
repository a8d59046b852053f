import { pino } from 'pino'

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
  'accountNumber',
  'iban',
  'connectionString',
]

export const createLog = (level: string) =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  })

export type Log = ReturnType<typeof createLog>
