import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { turns } from '../../platform/http/turns.ts'

// Argon2id with OWASP's parameters. A hash takes 19 MiB and about 35 ms of a core, so few run at
// once: a flood of sign-ins must not take the machine from everybody else.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Runs password work in one of the few slots, each caller in turn. */
export const inPasswordSlot = turns({
  most: 2,
  longestQueue: 400,
  longestShare: 100,
  full: 'Too many people are signing in at this moment.',
})

const normal = (password: string) => password.normalize('NFKC')

/** A random password of twenty characters. */
export const generatePassword = () => randomBytes(15).toString('base64url')

export const hashPassword = (password: string) => hash(normal(password), cost)

/**
 * Verifies a password. The work is the same when the user does not exist, so that the response time
 * reveals nothing.
 */
export async function isPassword(storedHash: string | undefined, password: string) {
  const matches = await verify(storedHash ?? (await decoy), normal(password))
  return matches && storedHash !== undefined
}

const decoy = hashPassword('nobody has this password')
