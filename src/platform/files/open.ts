import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { makeFolder } from '../folder.ts'
import { readEncryptionKeys } from '../secrets.ts'
import { type Files, type FilesOptions, filesOf, type Transaction } from './files.ts'
import { localStore } from './local-store.ts'
import { s3Store } from './s3-store.ts'
import { sealingWith } from './sealing.ts'

/** Opens the configured file storage: the data folder or a bucket. */
export async function openFiles(config: Config, transaction: Transaction) {
  const places = await openStore(config)
  const options: FilesOptions = { ...places, maxBytes: config.maxFileBytes, transaction }
  return { options, files: filesOf(options) }
}

/**
 * The files of imports. They may hold tax and bank numbers, so they are sealed with the encryption
 * keys of those.
 */
export const importFiles = (config: Config, options: FilesOptions): Files =>
  filesOf({
    ...options,
    maxBytes: config.maxImportBytes,
    sealing: sealingWith(readEncryptionKeys(config)),
  })

/** The store of contents, and the folder for files that are still arriving. */
export async function openStore(config: Config) {
  const folder = join(config.dataDir, 'files')
  const draftFolder = join(folder, 'drafts')
  makeFolder(draftFolder)
  return { store: config.s3 ? await s3Store(config.s3) : localStore(folder), draftFolder }
}
