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

/** To the standard output, unless another place is given. */
export const createLog = (level: string, destination?: DestinationStream) =>
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
