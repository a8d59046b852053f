import { isWaiting } from '../../client/src/waiting.ts'
import { api } from '../shared/api/client.ts'
import type { Document } from '../shared/api/types.ts'

/** A document that is there by name alone, until somebody approves it. */
export const waiting = 'waiting'

/** A document without its file. */
export async function create(body: object, intent: string): Promise<number | typeof waiting> {
  const { data } = await api.post<Document>('/Document', body, intent)
  // The first field of a record is its own id, which every stored one has.
  return isWaiting(data) ? waiting : (data.documentID as number)
}

/** The file of a document that has none yet. */
export async function send(documentID: number, file: File, intent: string) {
  const form = new FormData()
  form.append('documentID', String(documentID))
  form.append('file', file, file.name)
  await api.post('/Document/File', form, intent)
}
