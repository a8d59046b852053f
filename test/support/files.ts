import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Client, Reply } from './client.ts'

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Sends a form with a file, as a browser does. */
export async function sendForm(
  { url, token }: Client,
  path: string,
  fields: Record<string, string | number>,
  file?: { bytes: Buffer; name: string; type: string },
  extra: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  if (file) {
    const { bytes, name, type } = file
    form.append('file', new Blob([new Uint8Array(bytes)], { type }), name)
  }
  const answer = await fetch(url + path, {
    method: extra.method ?? 'POST',
    headers: { Version: '2.0', Authorization: token ?? '', ...extra.headers },
    body: form,
  })
  const text = await answer.text()
  return { ...JSON.parse(text), status: answer.status, headers: answer.headers, text }
}

export type Bytes = { status: number; headers: Headers; bytes: Buffer }

/** Reads the bytes of an answer. */
export async function getBytes(
  { url, token }: Client,
  path: string,
  headers: Record<string, string> = {},
): Promise<Bytes> {
  const answer = await fetch(url + path, {
    headers: {
      Version: '2.0',
      Accept: 'application/octet-stream',
      ...(token && { Authorization: token }),
      ...headers,
    },
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, headers: answer.headers, bytes }
}

/** The paths of all files below a folder. */
export const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
