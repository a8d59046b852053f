import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/**
 * Writes a zip file of any number of files without keeping any of them in memory: the central
 * directory, which goes at the end, is gathered in a file beside it. yazl, which zips spreadsheets,
 * keeps an object for each file. Contents are stored uncompressed, since a PDF is compressed
 * already.
 */
export type Zip = {
  /** Adds a file and returns the offset at which its content begins. */
  add: (name: string, content: Buffer) => Promise<number>
  end: () => Promise<void>
  /**
   * Closes the handles, finished or not; the caller that passed the path owns the zip file itself.
   */
  close: () => Promise<void>
}

/** The number of bytes that are gathered before they are written. */
const batchBytes = 1 << 18
const utf8Names = 0x0800
/**
 * 1 January 1980, the first day that the format can hold: the same content gives the same bytes.
 */
const day = 0x0021
const most32 = 0xffff_ffff

export async function openZip(path: string): Promise<Zip> {
  const body = await gatherer(path)
  const directory = await gatherer(`${path}.directory`)
  let count = 0
  const add = async (name: string, content: Buffer) => {
    const title = Buffer.from(name)
    const sum = crc32(content)
    const at = body.size()
    const shared = [0, utf8Names, 0, 0, day, sum, content.length, content.length, title.length]
    await body.add(local(shared), title, content)
    await directory.add(...central(shared, at, title))
    count++
    return at + 30 + title.length
  }
  const end = async () => {
    const at = body.size()
    const size = directory.size()
    await directory.close()
    for await (const piece of createReadStream(`${path}.directory`)) await body.add(piece as Buffer)
    await body.add(...tail(count, size, at))
    await body.close()
  }
  const close = async () => {
    for (const file of [body, directory]) await file.drop()
    await rm(`${path}.directory`, { force: true })
  }
  return { add, end, close }
}

/**
 * The local file header: version, flags, method, time, day, checksum, sizes, length of the name.
 */
function local(fields: readonly number[]): Buffer {
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(45, 4)
  write(head, 6, fields.slice(1))
  return head
}

/**
 * Flags, method, time and day take two bytes each, checksum and sizes four, the name's length two.
 */
function write(head: Buffer, from: number, fields: readonly number[]) {
  const [flags, method, time, date, sum, packed, size, name] = fields as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  for (const [i, value] of [flags, method, time, date].entries())
    head.writeUInt16LE(value, from + 2 * i)
  for (const [i, value] of [sum, packed, size].entries())
    head.writeUInt32LE(value, from + 8 + 4 * i)
  head.writeUInt16LE(name, from + 20)
}

/** The central directory entry; an offset beyond 4 GiB goes into an extra field (ZIP64). */
function central(fields: readonly number[], at: number, title: Buffer): Buffer[] {
  const head = Buffer.alloc(46)
  head.writeUInt32LE(0x02014b50, 0)
  head.writeUInt16LE(45, 4)
  head.writeUInt16LE(45, 6)
  write(head, 8, fields.slice(1))
  head.writeUInt32LE(Math.min(at, most32), 42)
  if (at < most32) return [head, title]
  const extra = Buffer.alloc(12)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(8, 2)
  extra.writeBigUInt64LE(BigInt(at), 4)
  head.writeUInt16LE(extra.length, 30)
  return [head, title, extra]
}

/**
 * The end of the central directory, preceded by its ZIP64 form where the short form cannot hold it.
 */
function tail(count: number, size: number, at: number): Buffer[] {
  const short = Buffer.alloc(22)
  short.writeUInt32LE(0x06054b50, 0)
  for (const place of [8, 10]) short.writeUInt16LE(Math.min(count, 0xffff), place)
  short.writeUInt32LE(Math.min(size, most32), 12)
  short.writeUInt32LE(Math.min(at, most32), 16)
  if (count < 0xffff && at + size < most32) return [short]
  const long = Buffer.alloc(56)
  long.writeUInt32LE(0x06064b50, 0)
  long.writeBigUInt64LE(44n, 4)
  long.writeUInt16LE(45, 12)
  long.writeUInt16LE(45, 14)
  for (const [place, value] of [
    [24, count],
    [32, count],
    [40, size],
    [48, at],
  ] as const)
    long.writeBigUInt64LE(BigInt(value), place)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(at + size), 8)
  locator.writeUInt32LE(1, 16)
  return [long, locator, short]
}

/** Buffers small pieces into large writes, and keeps count of the bytes. */
async function gatherer(path: string) {
  const file: FileHandle = await open(path, 'wx', 0o600)
  let [pieces, held, written]: [Buffer[], number, number] = [[], 0, 0]
  const flush = async () => {
    if (held === 0) return
    const piece = Buffer.concat(pieces)
    ;[pieces, held] = [[], 0]
    // writes all of it; a plain write may take only a part when the disk is nearly full
    await file.writeFile(piece)
    written += piece.length
  }
  return {
    size: () => written + held,
    add: async (...more: Buffer[]) => {
      for (const piece of more) {
        pieces.push(piece)
        held += piece.length
      }
      if (held > batchBytes) await flush()
    },
    close: async () => {
      await flush()
      await file.close()
    },
    drop: () => file.close(), // closing a closed handle does nothing
  }
}
