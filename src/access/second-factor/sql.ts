import { createHash, randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { conflict } from '../../platform/refusal.ts'
import { sealedWith } from '../../platform/secrets.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { base32, newSecret, stepOf } from './totp.ts'

/** Encrypts the secrets of second factors in the database. */
export type Seal = { seal: (text: string) => string; unseal: (text: string) => string }

export const factorsSealedWith = (key: Buffer): Seal =>
  sealedWith(
    key,
    'The second factor was enrolled under another JWT secret and cannot be checked: use a ' +
      'recovery code, or have an administrator remove it, and enrol anew.',
  )

const recoveryCodes = 10

/** `now` is the database's clock in milliseconds, since the clocks of nodes may differ. */
type Factor = { secret: string; now: number }
const factorFields = sql`
  secret, (extract(epoch from clock_timestamp()) * 1000)::bigint as now`

/**
 * Stores a new secret, which counts after it is confirmed. A confirmed factor must be removed
 * first.
 */
export async function enrol(tx: Tx, { seal }: Seal, userID: number): Promise<string> {
  const secret = newSecret()
  const rows = await tx.query(sql`
    insert into second_factor (user_id, secret) values (${userID}, ${seal(secret)})
    on conflict (user_id) do update set secret = excluded.secret, last_step = 0
      where second_factor.confirmed_date is null
    returning true`)
  if (rows.length === 0)
    throw conflict('second_factor_present', 'There is a second factor already; remove it first.')
  return secret
}

/**
 * Confirms the factor by its first code; returns the recovery codes, or undefined for a wrong code.
 */
export async function confirm(tx: Tx, { unseal }: Seal, userID: number, code: string) {
  const [factor] = await tx.query<Factor & { isConfirmed: boolean }>(sql`
    select ${factorFields}, confirmed_date is not null as "isConfirmed"
    from second_factor where user_id = ${userID} for update`)
  if (!factor || factor.isConfirmed)
    throw conflict('nothing_to_confirm', 'Enrol first with POST /User/SecondFactor.')
  const step = stepOf(unseal(factor.secret), code, factor.now)
  if (step === undefined) return undefined
  await tx.query(sql`update second_factor set confirmed_date = now(), last_step = ${step}
    where user_id = ${userID}`)
  return newRecoveryCodes(tx, userID)
}

async function newRecoveryCodes(tx: Tx, userID: number): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodes }, () =>
    base32(randomBytes(10)).replace(/(.{4})(?=.)/g, '$1-'),
  )
  await tx.query(sql`
    with gone as (delete from recovery_code where user_id = ${userID})
    insert into recovery_code (user_id, code_hash)
    select ${userID}::int, hash from unnest(${codes.map(hashOf)}::bytea[]) hash`)
  return codes
}

/** The hash of a recovery code as people type it: letters in any case, with or without hyphens. */
const hashOf = (code: string) =>
  createHash('sha256')
    .update(code.toUpperCase().replaceAll(/[^A-Z2-7]/g, ''))
    .digest()

export async function hasSecondFactor(handle: Sql, userID: number): Promise<boolean> {
  const rows = await handle.query(sql`
    select 1 from second_factor where user_id = ${userID} and confirmed_date is not null`)
  return rows.length > 0
}

/** Whether the code is valid. A valid code is spent at once, so it works once on all nodes. */
export async function spendCode(tx: Tx, seal: Seal, userID: number, code: string) {
  return /^\d{6}$/.test(code) ? spendStep(tx, seal, userID, code) : spendRecovery(tx, userID, code)
}

async function spendStep(tx: Tx, { unseal }: Seal, userID: number, code: string) {
  const [factor] = await tx.query<Factor>(sql`
    select ${factorFields} from second_factor
    where user_id = ${userID} and confirmed_date is not null`)
  const step = factor && stepOf(unseal(factor.secret), code, factor.now)
  if (step === undefined) return false
  const spent = await tx.query(sql`
    update second_factor set last_step = ${step}
    where user_id = ${userID} and last_step < ${step} returning true`)
  return spent.length > 0
}

async function spendRecovery(tx: Tx, userID: number, code: string) {
  const spent = await tx.query(sql`
    update recovery_code set used_date = now()
    where user_id = ${userID} and code_hash = ${hashOf(code)} and used_date is null returning true`)
  return spent.length > 0
}

/** Removes the second factor with its recovery codes; returns whether the user had one. */
export async function removeFactor(tx: Tx, userID: number): Promise<boolean> {
  await tx.query(sql`delete from recovery_code where user_id = ${userID}`)
  const gone = await tx.query(sql`
    delete from second_factor where user_id = ${userID} returning confirmed_date`)
  return gone.length > 0
}
