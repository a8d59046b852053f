import { type Static, Type } from 'typebox'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import { compareDecimals, plainDecimal } from '../../platform/shape/decimal.ts'
import { decimal, ExternalId, Id, optional, shown, text } from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'

const ids = {
  accountID: optional(Id),
  externalAccountId: optional(ExternalId),
  productID: optional(Id),
  externalProductId: optional(ExternalId),
}
const fields = {
  accountNumber: optional(text(50, { minLength: 1 })),
  currencyID: optional(lookupID('Currency')),
  drpTypeID: optional(lookupID('DRPType')),
  drpValue: optional(decimal()),
  accountStatusID: optional(lookupID('AccountStatus')),
}

/** A percentage or a number of units needs its value. */
const drpValueFits: Check = (value) => {
  const { drpTypeID, drpValue } = (value ?? {}) as Record<string, unknown>
  const { Percentage, Units } = lookups.DRPType
  if (drpTypeID !== Percentage && drpTypeID !== Units) return []
  const given = plainDecimal(drpValue)
  const fits =
    given !== undefined &&
    compareDecimals(given, '0') >= 0 &&
    (drpTypeID === Units || compareDecimals(given, '100') <= 0)
  const words =
    drpTypeID === Units
      ? 'must be the number of units, at least 0'
      : 'must be a percentage from 0 to 100'
  return fits ? [] : [{ field: 'drpValue', code: 'out_of_range', words }]
}

/** An account, which exists inside its entity only. */
export const AccountInput = Type.Object(
  { ...ids, ...fields },
  { $id: 'AccountInput', check: drpValueFits },
)
const Balance = Type.Object({ currencyID: lookupID('Currency'), amount: decimal() })
/** Currencies are never added: `balance` is what the account has in its own. */
export const Account = shown('Account', {
  ...ids,
  ...fields,
  balance: decimal(),
  balances: Type.Array(Balance, { description: 'What the account has, in every currency.' }),
})
/** What the account table holds, beside the entity it is of. */
export const AccountRecord = Type.Object({
  accountID: Id,
  externalAccountId: ids.externalAccountId,
  productID: Id,
  ...fields,
})

export type AccountInput = Static<typeof AccountInput>
