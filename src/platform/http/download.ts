import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { optional } from '../shape/fields.ts'
import { asBase64, base64Length } from './base64.ts'
import { answerSuccess } from './server.ts'

/** A file to be sent to the caller. */
export type Download = {
  /** The fields beside the content in the JSON form. */
  record: object
  fileName: string
  contentType: string
  size: number
  open: () => Promise<Readable>
}

export const rawParameter = {
  Raw: optional(
    Type.Boolean({
      description:
        'true: the answer is the bytes of the file. An Accept header without JSON, such as ' +
        'application/pdf, has the same effect.',
    }),
  ),
}

/** Sends the bytes themselves, or the envelope with them in base64; both are streamed. */
export async function answerFile(reply: FastifyReply, file: Download, raw: boolean) {
  const content = await file.open()
  // A client that hangs up must not leave the file open.
  reply.raw.once('close', () => content.destroy())
  return raw ? answerBytes(reply, file, content) : answerJson(reply, file, content)
}

const answerBytes = (reply: FastifyReply, file: Download, content: Readable) =>
  reply
    .type(file.contentType)
    .headers({
      'content-length': file.size,
      'content-disposition': disposition(file.fileName),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'no-store',
    })
    .send(content)

/** States the length, so that an answer that was cut off does not look complete. */
function answerJson(reply: FastifyReply, { record, size }: Download, content: Readable) {
  const told = JSON.stringify(record).slice(0, -1)
  const head = `{"result":true,"message":null,"recordCount":1,"data":${told},"content":"`
  const tail = '"}}'
  async function* body() {
    yield head
    yield* asBase64(content)
    yield tail
  }
  reply.header('content-length', Buffer.byteLength(head) + base64Length(size) + tail.length)
  return answerSuccess(reply, Readable.from(body(), { objectMode: false }))
}

/** RFC 6266: a plain name that any client can read, and the real one beside it. */
function disposition(fileName: string): string {
  const plain = fileName.replaceAll(/[^\w.() -]/g, '_')
  const encoded = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/**
 * Whether an Accept header asks for the file itself: it names application/octet-stream, or no type
 * that JSON would satisfy.
 */
export function wantsBytes(accept: string | undefined): boolean {
  const types = (accept ?? '*/*').toLowerCase().split(',').map(typeIn)
  return types.includes('application/octet-stream') || !types.some((type) => jsonTypes.has(type))
}

const typeIn = (entry: string) => (entry.split(';')[0] ?? '').trim()
const jsonTypes = new Set(['application/json', 'application/*', '*/*', ''])
