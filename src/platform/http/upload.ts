import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { invalid, Refusal } from '../refusal.ts'
import { parseJson } from '../shape/json.ts'
import { nodeOf } from '../shape/keywords.ts'
import { contentSplitter } from './json-content.ts'
import { letPass } from './let-pass.ts'
import { atItsPace } from './slow.ts'

/** A file that has arrived and is not stored yet: measured, hashed, in a temporary place. */
export type Arrived = {
  sha256: string
  size: number
  /** Its first bytes, from which its kind is recognised. */
  head: Buffer
  discard: () => Promise<void>
}

export type KeptFile = {
  sha256: string
  size: number
  fileName: string
  contentType: string
  /** The hash under which it is stored, if it is stored encrypted. */
  storedAs?: string
}

/** Receives and stores the files of requests. */
export type FileDoor = {
  maxBytes: number
  arrive: (content: AsyncIterable<Buffer>) => Promise<Arrived>
  /**
   * Stores a file permanently while `refer` writes the reference to it; if that is refused, nothing
   * is left.
   */
  keep: <T>(
    file: Arrived,
    told: { fileName?: string; contentType?: string },
    refer: (kept: KeptFile) => Promise<T>,
  ) => Promise<T>
}

type Received = { body: unknown; file: Arrived | undefined }

/**
 * The longest text field of a form, in bytes: enough for an import's mapping of all its columns.
 */
const longestField = 2 ** 18

/** The most fields of a form beside its file. */
const mostFields = 20

/** On these routes Fastify does not read the body beforehand; see receive. */
export async function takeFiles(scope: FastifyInstance) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', (_request, payload, done) => done(null, payload))
  await scope.register(multipart, {
    limits: {
      ...{ fields: mostFields, fieldNameSize: 100, fieldSize: longestField },
      ...{ files: 1, parts: mostFields + 1 },
    },
    throwFileSizeLimit: false,
  })
}

/** Reads a request's file and the fields beside it, from JSON or multipart/form-data. */
export async function receive(request: FastifyRequest, schema: TObject, door: FileDoor) {
  const { headers } = request
  // Base64 makes four letters of three bytes; the remainder is for names, ids and boundaries.
  const most = Math.ceil(door.maxBytes * 1.4) + 2 ** 17
  if (Number(headers['content-length'] ?? 0) > most) throw tooLarge(door.maxBytes)
  if (headers['content-encoding'] !== undefined) throw encoded()
  try {
    return await atItsPace(request, () =>
      request.isMultipart()
        ? receiveForm(request, schema, door)
        : receiveJson(request.body as Readable | undefined, door),
    )
  } catch (error) {
    letPass(request.raw)
    throw refusalOfUpload(error) ?? error
  }
}

async function receiveJson(body: Readable | undefined, door: FileDoor): Promise<Received> {
  if (!body) return { body: null, file: undefined }
  const splitter = contentSplitter()
  async function* content() {
    // Leaving the loop early must not destroy the body: that would close the connection before the
    // answer.
    for await (const piece of body!.iterator({ destroyOnReturn: false }))
      yield* splitter.push(piece)
  }
  const file = await door.arrive(content())
  try {
    return { body: parseJson(textOf(splitter.rest())), file }
  } catch (error) {
    await file.discard()
    throw error
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid('malformed_json', 'The body is not valid UTF-8.')
  }
}

async function receiveForm(
  request: FastifyRequest,
  schema: TObject,
  door: FileDoor,
): Promise<Received> {
  const fields = new Map<string, unknown>()
  const names: string[] = []
  const told: ToldByPart = {}
  let file: Arrived | undefined
  try {
    // We limit the size ourselves: the library would cut the file off, and a cut file must not look
    // like a whole one.
    for await (const part of request.parts({ limits: { fileSize: Number.MAX_SAFE_INTEGER } })) {
      // A part may lack a name, although its type says otherwise.
      const name = (part.fieldname as string | undefined)?.toLowerCase()
      if (name === undefined) throw malformedForm()
      if (fields.has(name)) throw givenTwice(part.fieldname)
      if (part.type === 'field') {
        if (name === 'file') throw unnamedFile(part.fieldname)
        if (name === 'content') throw misplacedFile(part.fieldname)
        if (part.valueTruncated) throw tooLong(part.fieldname)
        fields.set(name, part.value)
        names.push(part.fieldname)
        continue
      }
      if (name !== 'file') throw misplacedFile(part.fieldname)
      file = await door.arrive(part.file)
      fields.set('file', '')
      if (part.filename) told.fileName = part.filename
      if (part.mimetype) told.contentType = part.mimetype
    }
    return { body: bodyOfForm(schema, { fields, names, told }), file }
  } catch (error) {
    await file?.discard()
    throw error
  }
}

/** What the part with the file says of it; fields of the form say it with more right. */
type ToldByPart = { fileName?: string; contentType?: string }
type Form = { fields: ReadonlyMap<string, unknown>; names: readonly string[]; told: ToldByPart }

/**
 * Turns the texts of a form into the types of the schema: numbers and flags. Unknown fields are
 * kept so that they are reported as ignored: a misspelt field must not go unnoticed.
 */
function bodyOfForm({ properties }: TObject, { fields, names, told }: Form): object {
  const known = new Set(Object.keys(properties).map((name) => name.toLowerCase()))
  const given = (name: string) => {
    const value = fields.get(name.toLowerCase())
    const { type } = nodeOf(properties[name] ?? {})
    if (typeof value !== 'string') return value // a part that is JSON
    if (type === 'boolean') return flags[value.toLowerCase()] ?? value
    return type === 'integer' && /^\d{1,16}$/.test(value) ? Number(value) : value
  }
  const others = names.filter((name) => !known.has(name.toLowerCase()))
  return {
    ...Object.fromEntries(others.map((name) => [name, fields.get(name.toLowerCase())])),
    ...Object.fromEntries(Object.keys(properties).map((name) => [name, given(name)])),
    fileName: fields.get('filename') ?? told.fileName,
    // The browser's content type of the part, if the schema has such a field.
    ...(known.has('contenttype') && {
      contentType: fields.get('contenttype') ?? told.contentType,
    }),
    content: fields.get('file'),
  }
}

const flags: Record<string, boolean> = { true: true, false: false }

/** Turns errors of the body parsers into refusals; the error handler deals with the others. */
function refusalOfUpload(error: unknown): Refusal | undefined {
  const { code = '', message } = error as { code?: string; message?: string }
  if (error instanceof Refusal) return error
  if (code === 'FST_FILES_LIMIT') return givenTwice('file')
  if (/^FST_(FIELDS|PARTS)_LIMIT$/.test(code)) return tooManyFields()
  if (code.startsWith('FST_')) return undefined
  if (
    /Unexpected end|Malformed|multipart|boundary|needle|aborted|premature/i.test(
      `${code} ${message}`,
    )
  )
    return malformedForm()
  return undefined
}

const malformedForm = () =>
  invalid('malformed_form', 'The body is cut short or is not multipart/form-data.')

export const tooLarge = (maxBytes: number) =>
  new Refusal(413, [
    { code: 'file_too_large', message: `A file may have at most ${maxBytes} bytes.` },
  ])
const encoded = () =>
  new Refusal(415, [{ code: 'encoded', message: 'Send the body without a Content-Encoding.' }])
const givenTwice = (field: string) => invalid('given_twice', `${field} is given twice.`, field)
const tooManyFields = () =>
  invalid('too_many', `A form has at most ${mostFields} fields beside its file.`)
const tooLong = (field: string) =>
  invalid('too_long', `${field} is longer than ${longestField} bytes.`, field)
const misplacedFile = (field: string) =>
  invalid('invalid_value', 'The file must stand in the field file of the form.', field)
const unnamedFile = (field: string) =>
  invalid(
    'invalid_value',
    'The field file of the form has no filename, and so was read as a text: give it one.',
    field,
  )
