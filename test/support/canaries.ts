import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'

/** Values that must not turn up in certain places, by the name of their kind. */
export type Canaries = Map<string, Set<string>>

/**
 * The forms in which a text may turn up: as it is, without spaces, escaped for JSON, a URL or XML,
 * in hexadecimal, and in base64 at any offset.
 */
function formsOf(text: string): string[] {
  const texts = [text, text.replaceAll(/\s/g, '')]
  const escaped = texts.flatMap((one) => [
    JSON.stringify(one).slice(1, -1),
    encodeURIComponent(one),
    encodeURIComponent(one).replaceAll('%20', '+'),
    one.replaceAll('&', '&amp;'),
  ])
  const coded = texts.flatMap((one) => [
    Buffer.from(one).toString('hex'),
    Buffer.from(one).toString('hex').toUpperCase(),
    ...[0, 1, 2].flatMap((shift) => inBase64(one, shift)),
  ])
  return [...new Set([...texts, ...escaped, ...coded])]
}

/** The base64 letters that depend only on this text, if `shift` other bytes come before it. */
function inBase64(text: string, shift: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)])
  const whole = Math.floor((bytes.length * 8) / 6)
  const own = bytes.toString('base64').slice(Math.ceil((shift * 8) / 6), whole)
  return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
}

/**
 * The canaries found in the files of a folder, as `kind: file`, with the file as `place` names it.
 * It uses grep, which searches gigabytes of binary data quickly.
 */
export function searchFolder(
  folder: string,
  canaries: Canaries,
  workFolder: string,
  place: (file: string) => string,
): Set<string> {
  const kinds = new Map(
    [...canaries].flatMap(([kind, values]) =>
      [...values].flatMap((value) => formsOf(value).map((form) => [form, kind] as const)),
    ),
  )
  const patterns = join(workFolder, 'patterns')
  writeFileSync(patterns, [...kinds.keys()].join('\n'))
  const { stdout, status, stderr } = spawnSync('grep', ['-roaHF', '-f', patterns, '.'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    env: { ...process.env, LC_ALL: 'C' },
  })
  if (status !== 0 && status !== 1) throw new Error(`grep: ${stderr}`)
  return new Set(
    stdout.split('\n').flatMap((line) => {
      const at = line.indexOf(':')
      return at < 0 ? [] : [`${kinds.get(line.slice(at + 1))}: ${place(line.slice(2, at))}`]
    }),
  )
}

/** The unpacked files of a ZIP, as its central directory lists them. */
export function partsOf(zip: Buffer): Buffer[] {
  const end = zip.lastIndexOf('PK\x05\x06')
  const parts: Buffer[] = []
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [size, start] = [zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 42)]
    const content = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28)
    const packed = zip.subarray(content, content + size)
    parts.push(zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(packed) : packed)
    const lengths = [28, 30, 32].map((field) => zip.readUInt16LE(at + field))
    at += 46 + lengths.reduce((sum, length) => sum + length, 0)
  }
  return parts
}
