import { Command } from 'commander'
import sql from 'sql-template-tag'
import { type Config, readConfig } from '../../config.ts'
import { sealFilesAnew } from '../../integration/import/rotate.ts'
import { sealSecretsAnew } from '../../integration/webhook/rotate.ts'
import { webhookVault } from '../../integration/webhook/vault.ts'
import { organisationTable } from '../../parties/organisation/sql.ts'
import { personTable } from '../../parties/person/sql.ts'
import { learnKey, nodesWithout } from '../../parties/sealed/keys.ts'
import { sealAnew } from '../../parties/sealed/rotate.ts'
import { type Vault, vaultOf } from '../../parties/sealed/vault.ts'
import { importFiles, openFiles } from '../../platform/files/open.ts'
import { readEncryptionKeys, replaceEncryptionKey } from '../../platform/secrets.ts'
import type { Database, Tx } from '../../platform/sql/handle.ts'
import { lockNumbers } from '../../platform/sql/lock-numbers.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { isAnyRunning } from '../../platform/sql/running.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { doorOf, say, withDatabase } from './registry.ts'

const command = 'rotate-encryption-key'

export const rotateEncryptionKeyCommand = new Command(command)
  .description(
    'seal all tax numbers, webhook secrets and import files with the current encryption key; ' +
      'give the previous keys in REGISTRY_PREVIOUS_ENCRYPTION_KEYS. The service can keep running.',
  )
  .option('--generate', 'first create a new key in the key file, and keep the old key beside it')
  .action(async ({ generate }: { generate?: boolean }) => {
    const config = readConfig()
    if (generate && config.encryptionKey)
      throw new Error('REGISTRY_ENCRYPTION_KEY is set. Put the new key there and omit --generate.')
    await withDatabase(config, async (database) => {
      const vault = await database.transaction((tx) => presentKey(tx, config, generate))
      if (generate && (await isAnyRunning(database))) return leaveForLater(database, vault)
      const { sealed, failed } = await sealAnew(database, vault, [personTable, organisationTable])
      const secrets = await database.transaction((tx) => sealSecretsAnew(tx, webhookVault(config)))
      const { options } = await openFiles(config, database.transaction)
      const files = await sealFilesAnew(database.transaction, importFiles(config, options))
      await record(database, { keyID: vault.keyID, sealed, failed: failed.length })
      say(`Sealed ${sealed} tax numbers with the key ${vault.keyID}.`)
      if (secrets.sealed > 0) say(`Sealed ${secrets.sealed} secrets of webhooks with it.`)
      if (files.sealed > 0) say(`Sealed ${files.sealed} files of imports with it.`)
      const problems = [
        ...numbersLeft(failed),
        ...secretsLeft(secrets.failed),
        ...filesLeft(files.failed),
      ]
      await tellOfNodes(database, vault)
      if (problems.length > 0) throw new Error(problems.join('\n'))
    })
  })

const record = (database: Database, changes: { keyID: string; sealed: number; failed: number }) =>
  unitOfWork(database, doorOf(command, 'Person'), async () => ({
    ...nothingLeft,
    ids: [],
    changes,
  }))

/**
 * Stops after the new key was made, because running nodes and workers lack it: they could not sign
 * for webhooks, read files of imports or find tax numbers that are sealed with it.
 */
async function leaveForLater(database: Database, { keyID }: Vault) {
  await record(database, { keyID, sealed: 0, failed: 0 })
  say(
    `Made the key ${keyID}. Nothing is sealed with it yet, because nodes are running that do ` +
      'not have it.',
  )
  say('Restart every node and worker, then run this command again without --generate.')
}

/** Somebody who forgets to restart a node would otherwise learn it from webhooks that fail. */
async function tellOfNodes(database: Database, { keyID }: Vault) {
  const nodes = await nodesWithout(database, keyID)
  if (nodes > 0)
    say(
      `Nodes and workers that run with another present key: ${nodes}. Those without this key ` +
        'cannot sign for webhooks, read files of imports or find tax numbers: restart them ' +
        'with it, then run this command again.',
    )
}

/**
 * The key to seal with. The lock makes two commands take turns: otherwise one could seal with a key
 * that the other has overwritten, and nobody could open those values again.
 */
async function presentKey(tx: Tx, config: Config, isNew: boolean | undefined): Promise<Vault> {
  await tx.query(sql`select pg_advisory_xact_lock(${lockNumbers.newKey})`)
  if (isNew) replaceEncryptionKey(config)
  const vault = vaultOf(readEncryptionKeys(config))
  // Recorded before it is used: a node that lacks the key must not start.
  await learnKey(tx, vault.keyID)
  return vault
}

/** Names places and key ids only; the values stay hidden. */
function numbersLeft(failed: { place: string; keyID: string }[]): string[] {
  if (failed.length === 0) return []
  const some = failed.slice(0, 10).map(({ place, keyID }) => `${place} (key ${keyID})`)
  return [
    `${failed.length} tax numbers could not be decrypted and were left unchanged: ` +
      `${some.join(', ')}. Is a previous key missing from REGISTRY_PREVIOUS_ENCRYPTION_KEYS?`,
  ]
}

const secretsLeft = (webhookIDs: number[]): string[] =>
  webhookIDs.length === 0
    ? []
    : [
        `The secrets of the webhooks ${webhookIDs.join(', ')} could not be decrypted. Is a ` +
          'previous key missing from REGISTRY_PREVIOUS_ENCRYPTION_KEYS? If not, replace the ' +
          'secrets with POST /Webhook/RotateSecret.',
      ]

const filesLeft = (importIDs: number[]): string[] =>
  importIDs.length === 0
    ? []
    : [
        `Files of the imports ${importIDs.join(', ')} could not be decrypted. Is a previous key ` +
          'missing from REGISTRY_PREVIOUS_ENCRYPTION_KEYS, or is the folder or bucket of the ' +
          'files not available?',
      ]
