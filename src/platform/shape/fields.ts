import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { firstDate, isDate } from './dates.ts'
import { type Check, type DecimalRule, usualMust } from './keywords.ts'

/**
 * The kinds of field the API knows. Each is JSON Schema, plus the few keywords of our own that
 * keywords.ts lists, so that it goes into the OpenAPI document unchanged.
 */

/** A native id. 0 means "not given", as the specification writes it on create. */
export const Id = Type.Integer({ minimum: 1, maximum: 2_147_483_647, identifier: true })
/** A native id of the ledger, beyond 32 bits. */
export const LongId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  format: 'int64',
  identifier: true,
})
/** A character that can be seen: zero-width and other invisible characters count as blanks. */
const visible = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u
const isBlank = (text: string) => !visible.test(text)
/** Blanks around a value mean nothing, and a text of blanks is none. */
export const trimmed = (value: unknown) => {
  if (typeof value !== 'string') return value
  return isBlank(value) ? undefined : value.trim()
}
export const ExternalId = Type.String({ minLength: 1, maxLength: 50, conformed: trimmed })
export const text = (maxLength: number, options: object = {}) =>
  Type.String({ maxLength, ...options })
const notBlank: Check = (value) =>
  typeof value === 'string' && isBlank(value) ? [{ words: usualMust }] : []
export const requiredText = (maxLength: number, options: object = {}) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', check: notBlank, ...options })
export const Flag = Type.Boolean()
/** A flag that is true unless the request says otherwise. */
export const FlagSet = Type.Boolean({ default: true })
export const DateOnly = Type.String({ format: 'date' })
/** Refuses dates before the first day that can be meant: they are misprints. */
export const notBefore =
  (first: string): Check =>
  (value) =>
    isDate(value) && value < first ? [{ code: 'out_of_range', words: `is before ${first}` }] : []
/** A date that is entered into the register. */
export const RegisterDate = Type.String({ format: 'date', check: notBefore(firstDate) })
export const DateTime = Type.String({ format: 'date-time' })
export const Integer = Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })

/** An exact decimal: text in our code, a JSON number on the wire, `numeric` in the database. */
export const decimal = (rule: DecimalRule = {}, options: object = {}) =>
  Type.Unsafe<string>({ decimal: rule, ...options })

/** A value that must not be seen in logs or audit records; see platform/shape/mask.ts. */
export const sensitive = <T extends TSchema>(schema: T): T => ({ ...schema, sensitive: true })

/** A value stored encrypted and shown as its mask; see parties/sealed/vault.ts. */
export const encrypted = <T extends TSchema>(schema: T): T => ({
  ...sensitive(schema),
  encrypted: true,
})

/** A text with its own validation rule; `words` is the message where it fails. */
export const textThat = (
  maxLength: number,
  isRight: (value: string) => boolean,
  words: string,
  options: object = {},
) => {
  const check: Check = (value) => (typeof value !== 'string' || isRight(value) ? [] : [{ words }])
  return Type.String({ maxLength, check, ...options })
}

/**
 * A field that a replacement (PUT) keeps where the request leaves it out, so that clients who do
 * not know the field do not clear it; null clears it.
 */
export const clearable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, clearable: true })

/** An object or list that is stored, compared and shown as a single value of its record. */
export const document = <T extends TSchema>(schema: T): T => ({ ...schema, document: true })

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const optional = Type.Optional

/** A record as answers show it: every field is present, null where there is no value. */
export function shown<P extends TProperties>(
  name: string,
  properties: P,
  example?: object,
): TObject & Shows<P> {
  const [own] = Object.keys(properties)
  const fields = Object.entries(properties).map(([field, given]) => {
    const { clearable: _input, ...schema } = given as TSchema & { clearable?: boolean }
    return [field, field === own || 'items' in schema ? schema : nullable(schema)]
  })
  // The compiler cannot infer the result of fromEntries: the fields of P, as Shows<P> has them.
  return Type.Object(Object.fromEntries(fields), {
    $id: name,
    ...(example && { example }),
  }) as TObject & Shows<P>
}

/**
 * The TypeScript type of a record in an answer, for code that reads answers: `Shown<typeof
 * Product>`.
 */
export type Shown<S> = S extends { '~shows'?: infer Record } ? NonNullable<Record> : never
type Shows<P extends TProperties> = {
  '~shows'?: { [Field in keyof P]: P[Field] extends TSchema ? ShownField<P[Field]> : never }
}
type ShownField<S extends TSchema> = S extends { items: infer Item }
  ? ShownItem<Item>[]
  : (S extends { '~shows'?: infer Record } ? NonNullable<Record> : Static<S>) | null
type ShownItem<Item> = Item extends { '~shows'?: infer Record }
  ? NonNullable<Record>
  : Item extends TSchema
    ? Static<Item>
    : never

/** One object, or an array of up to 1000 that is accepted as a whole or not at all. */
export const oneOrMany = <T extends TSchema>(item: T) =>
  Type.Unsafe<Static<T>[]>({ type: 'array', items: item, minItems: 1, maxItems: 1000, lone: true })
