import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { makeFolder } from '../folder.ts'
import { readEncryptionKeys } from '../secrets.ts'
import { type Files, type FilesOptions, filesOf, type Transaction } from './files.ts'
import { localStore } from './local-store.ts'
import { s3Store } from './s3-store.ts'
import { sealingWith } from './sealing.ts'

/** The files as configured: in the data folder, or in a bucket. */
export async function openFiles(config: Config, transaction: Transaction) {
  const places = await openStore(config)
  const options: FilesOptions = { ...places, maxBytes: config.maxFileBytes, transaction }
  return { options, files: filesOf(options) }
}

/** The files of imports, which may hold tax and bank numbers: sealed with the key of those. */
export const importFiles = (config: Config, options: FilesOptions): Files =>
  filesOf({
    ...options,
    maxBytes: config.maxImportBytes,
    sealing: sealingWith(readEncryptionKeys(config)),
  })

/** Where contents lie, and where they are while they arrive. */
export async function openStore(config: Config) {
  const folder = join(config.dataDir, 'files')
  const draftFolder = join(folder, 'drafts')
  makeFolder(draftFolder)
  return { store: config.s3 ? await s3Store(config.s3) : localStore(folder), draftFolder }
}
