import { type Static, Type } from 'typebox'
import { Id, optional, requiredText } from '../../platform/shape/fields.ts'

/**
 * Six digits of an authenticator, or a recovery code. Neither logs nor audit records hold the body.
 */
export const Code = requiredText(40)

export const Enrolment = Type.Object(
  {
    secret: Type.String({ description: 'The secret in base32. It is shown only in this answer.' }),
    otpauthUrl: Type.String({
      description:
        'The same secret as an otpauth URI, for the QR code that an authenticator app scans.',
    }),
  },
  {
    $id: 'SecondFactorEnrolment',
    example: {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      otpauthUrl: 'otpauth://totp/Registry%3Aann?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    },
  },
)
export const Confirmation = Type.Object(
  { code: Code },
  { $id: 'SecondFactorConfirmation', example: { code: '123456' } },
)
export const RecoveryCodes = Type.Object(
  {
    recoveryCodes: Type.Array(Type.String(), {
      description: 'Each code works once. The codes are shown only in this answer.',
    }),
  },
  { $id: 'RecoveryCodes', example: { recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'] } },
)
export const FactorRemoval = Type.Object({ Code: optional(Code), UserID: optional(Id) })

export type Confirmation = Static<typeof Confirmation>
export type FactorRemoval = Static<typeof FactorRemoval>
