import { isWaiting } from '../../client/src/waiting.ts'
import { api } from '../shared/api/client.ts'
import type { Document } from '../shared/api/types.ts'

/** Returned for a document that does not exist until somebody approves its creation. */
export const waiting = 'waiting'

/** Creates a document without its file. */
export async function create(body: object, intent: string): Promise<number | typeof waiting> {
  const { data } = await api.post<Document>('/Document', body, intent)
  // The first field of a record is its own id, which every stored record has.
  return isWaiting(data) ? waiting : (data.documentID as number)
}

/** Uploads the first file of a document. */
export async function send(documentID: number, file: File, intent: string) {
  const form = new FormData()
  form.append('documentID', String(documentID))
  form.append('file', file, file.name)
  await api.post('/Document/File', form, intent)
}
