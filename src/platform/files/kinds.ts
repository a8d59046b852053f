import { Refusal } from '../refusal.ts'

/**
 * The kinds of file that are accepted. The declared type, the file name and the first bytes must
 * agree, so that nobody opens something else than they expect. Files that a browser would run
 * (HTML, SVG, scripts) are never accepted.
 */
type Kind = {
  type: string
  extensions: readonly string[]
  /** Tests the first bytes of the file; undefined for a text file. */
  begins?: (head: Buffer) => boolean
}

const at = (offset: number, bytes: string) => (head: Buffer) =>
  head.subarray(offset, offset + bytes.length).toString('latin1') === bytes
const any =
  (...tests: ((head: Buffer) => boolean)[]) =>
  (head: Buffer) =>
    tests.some((test) => test(head))

const pdf = (head: Buffer) => head.subarray(0, 1024).includes('%PDF-')
const zip = any(at(0, 'PK\x03\x04'), at(0, 'PK\x05\x06'))
const compound = at(0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')
const office = 'application/vnd.openxmlformats-officedocument'
const open = 'application/vnd.oasis.opendocument'

const kinds: readonly Kind[] = [
  { type: 'application/pdf', extensions: ['pdf'], begins: pdf },
  { type: 'image/png', extensions: ['png'], begins: at(0, '\x89PNG\r\n\x1a\n') },
  { type: 'image/jpeg', extensions: ['jpg', 'jpeg'], begins: at(0, '\xff\xd8\xff') },
  { type: 'image/gif', extensions: ['gif'], begins: any(at(0, 'GIF87a'), at(0, 'GIF89a')) },
  { type: 'image/tiff', extensions: ['tif', 'tiff'], begins: any(at(0, 'II*\0'), at(0, 'MM\0*')) },
  { type: 'image/webp', extensions: ['webp'], begins: at(8, 'WEBP') },
  {
    type: 'image/heic',
    extensions: ['heic', 'heif'],
    begins: any(at(4, 'ftyphei'), at(4, 'ftypmif'), at(4, 'ftyphev')),
  },
  { type: 'application/zip', extensions: ['zip'], begins: zip },
  { type: `${office}.wordprocessingml.document`, extensions: ['docx'], begins: zip },
  { type: `${office}.spreadsheetml.sheet`, extensions: ['xlsx'], begins: zip },
  { type: `${office}.presentationml.presentation`, extensions: ['pptx'], begins: zip },
  { type: `${open}.text`, extensions: ['odt'], begins: zip },
  { type: `${open}.spreadsheet`, extensions: ['ods'], begins: zip },
  { type: 'application/msword', extensions: ['doc'], begins: compound },
  { type: 'application/vnd.ms-excel', extensions: ['xls'], begins: compound },
  { type: 'application/vnd.ms-powerpoint', extensions: ['ppt'], begins: compound },
  { type: 'application/vnd.ms-outlook', extensions: ['msg'], begins: compound },
  { type: 'application/rtf', extensions: ['rtf'], begins: at(0, '{\\rtf') },
  { type: 'text/plain', extensions: ['txt', 'log', 'md'] },
  { type: 'text/csv', extensions: ['csv'] },
  { type: 'application/json', extensions: ['json'] },
  { type: 'application/jsonl', extensions: ['jsonl', 'ndjson'] },
  { type: 'message/rfc822', extensions: ['eml'] },
]
const byType = new Map(kinds.map((kind) => [kind.type, kind]))

/**
 * The type of files without a more specific type; answers offer them for saving, never for display.
 */
const bytes = 'application/octet-stream'

const synonyms: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/heif': 'image/heic',
  'application/x-pdf': 'application/pdf',
  'application/x-zip-compressed': 'application/zip',
  'text/rtf': 'application/rtf',
  'application/csv': 'text/csv',
  'text/json': 'application/json',
  'application/x-ndjson': 'application/jsonl',
}

const runs = new Set([
  ...'html htm xhtml xht shtml svg svgz js mjs cjs xml xsl hta'.split(' '),
  ...'exe dll com bat cmd msi ps1 vbs jar sh'.split(' '),
])

/**
 * The type a file is stored under; refuses a file whose content, name or declared type disagree.
 */
export function typeOf(head: Buffer, fileName: string, declared: string | undefined): string {
  const extension = /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? ''
  if (runs.has(extension)) throw notTaken(`Files named .${extension} are not taken.`, 'fileName')
  const named = kinds.find(({ extensions }) => extensions.includes(extension))
  const stated = plainType(declared)
  const type = stated === bytes ? (named?.type ?? bytes) : stated
  if (type !== bytes && !byType.has(type))
    throw notTaken(`Files of the type ${type} are not taken.`, 'contentType')
  if (named && named.type !== type)
    throw notTaken(`A file named .${extension} is ${named.type}, not ${type}.`, 'contentType')
  if (type !== bytes && !looksLike(byType.get(type)!, head))
    throw notTaken(`The content is not ${type}.`, 'content')
  return type
}

/** The media type without parameters (charset=utf-8), in lower case; bytes if none is declared. */
function plainType(declared: string | undefined): string {
  const type = (declared ?? '').split(';')[0]!.trim().toLowerCase()
  return type === '' ? bytes : (synonyms[type] ?? type)
}

const looksLike = ({ begins }: Kind, head: Buffer) => begins?.(head) ?? isText(head)

/** A text has no NUL, does not begin like another kind, and could not be a page for a browser. */
const isText = (head: Buffer) =>
  !head.includes(0) &&
  !kinds.some(({ begins }) => begins?.(head)) &&
  !/^\s*<(!doctype|html|head|body|script|svg|\?xml)/i.test(head.toString('latin1', 0, 512))

const notTaken = (message: string, field: string) =>
  new Refusal(415, [{ code: 'file_type', field, message }])
