import type { Config } from '../../config.ts'
import { readEncryptionKeys, seal, unseal } from '../../platform/secrets.ts'

/** Thrown for a secret that none of the configured keys opens. */
export class KeyMissing extends Error {
  override message =
    'The secret is sealed with an encryption key that is not here: replace it with ' +
    'POST /Webhook/RotateSecret.'
}

export type WebhookVault = ReturnType<typeof webhookVault>

/**
 * Seals webhook secrets with the key of tax file numbers; previous keys still open older secrets.
 */
export function webhookVault(config: Config) {
  const { current, previous } = readEncryptionKeys(config)
  const openedBy = (key: Buffer, text: string): string | undefined => {
    try {
      return unseal(key, text)
    } catch {
      return undefined
    }
  }
  const opened = (text: string) => {
    for (const key of [current, ...previous]) {
      const secret = openedBy(key, text)
      if (secret !== undefined) return secret
    }
    throw new KeyMissing()
  }
  return {
    seal: (text: string) => seal(current, text),
    unseal: opened,
    /** Whether a secret is sealed with the current key. */
    isCurrent: (text: string) => openedBy(current, text) !== undefined,
  }
}
