import { type Static, Type } from 'typebox'
import { lookupID, lookups } from '../../platform/lookup/lookups.ts'
import { compareDecimals, plainDecimal } from '../../platform/shape/decimal.ts'
import {
  clearable,
  DateOnly,
  decimal,
  document,
  ExternalId,
  Id,
  optional,
  requiredText,
  shown,
  text,
  trimmed,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'

const ids = {
  accountID: optional(Id),
  externalAccountId: optional(ExternalId),
  productID: optional(Id),
  externalProductId: optional(ExternalId),
}

const endsAfterItBegins: Check = (value) => {
  const { validFrom, validTo } = (value ?? {}) as Record<string, unknown>
  const backwards =
    typeof validFrom === 'string' && typeof validTo === 'string' && validTo < validFrom
  return backwards ? [{ field: 'validTo', words: 'is before validFrom' }] : []
}

/**
 * The percentage withheld from an account while the override is valid, whatever its parties have
 * quoted.
 */
export const WithholdingOverride = document(
  Type.Object(
    {
      percentage: decimal({ minimum: '0', maximum: '100' }),
      reason: requiredText(500),
      validFrom: optional(DateOnly),
      validTo: optional(DateOnly),
    },
    {
      check: endsAfterItBegins,
      description:
        'The percentage to withhold, to the cent, regardless of what the parties have quoted ' +
        'and where they are resident. Null: the tax standing of the parties decides.',
    },
  ),
)

const fields = {
  accountNumber: optional(text(50, { minLength: 1, conformed: trimmed })),
  currencyID: optional(lookupID('Currency')),
  drpTypeID: optional(lookupID('DRPType')),
  drpValue: optional(decimal()),
  accountStatusID: optional(lookupID('AccountStatus')),
  withholdingOverride: optional(clearable(WithholdingOverride)),
}

/** The reinvestment types Percentage and Units need a value. */
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

/** An account, which is only written inside its entity. */
export const AccountInput = Type.Object(
  { ...ids, ...fields },
  { $id: 'AccountInput', check: drpValueFits },
)
const Balance = Type.Object({ currencyID: lookupID('Currency'), amount: decimal() })
/**
 * Amounts of different currencies are never added: `balance` is the amount in the account's own
 * currency.
 */
export const Account = shown('Account', {
  ...ids,
  ...fields,
  balance: decimal(),
  balances: Type.Array(Balance, {
    description: 'The value of the units of the account at the latest prices, for each currency.',
  }),
})
/** The columns of the account table, except the entity's id. */
export const AccountRecord = Type.Object({
  accountID: Id,
  externalAccountId: ids.externalAccountId,
  productID: Id,
  ...fields,
})

export type AccountInput = Static<typeof AccountInput>
