import type { DateFormat, Encoding, Mapping, Mode } from '../../src/integration/import/schema.ts'
import { api, newIntent } from '../shared/api/client.ts'
import type { Import } from '../shared/api/types.ts'

export type Terms = {
  type: string
  dateFormat: DateFormat
  encoding: Encoding
  mapping: Mapping
  productID: number | null
}
type Sent = { file: File; terms: Terms }

/**
 * The files sent from this page, so that a checked file can be committed without being chosen
 * again.
 */
const sent = new Map<number, Sent>()
export const sentFrom = (importID: number): Sent | undefined => sent.get(importID)

/**
 * The Idempotency-Keys of a file by what is asked for it; each is kept until that request
 * succeeded.
 */
const intents = new WeakMap<File, Map<string, string>>()

function intentsOf(file: File): Map<string, string> {
  const known = intents.get(file) ?? new Map<string, string>()
  intents.set(file, known)
  return known
}

/** Sends a file; `again` allows a file that was imported before. */
export async function sendImport(
  { file, terms }: Sent,
  mode: Mode,
  again = false,
): Promise<number> {
  const { mapping, productID, ...rest } = terms
  const form = new FormData()
  for (const [name, value] of Object.entries({ ...rest, mode })) form.append(name, value)
  if (mapping.length > 0) form.append('mapping', JSON.stringify(mapping))
  if (productID) form.append('productID', String(productID))
  if (again) form.append('again', 'true')
  form.append('file', file, file.name)
  const known = intentsOf(file)
  const what = JSON.stringify([terms, mode, again])
  const intent = known.get(what) ?? newIntent()
  known.set(what, intent)
  const { data } = await api.post<Import>('/Import', form, intent)
  known.delete(what)
  // The first field of a record is its own id, which every stored record has.
  const importID = data.importID as number
  sent.set(importID, { file, terms })
  return importID
}
