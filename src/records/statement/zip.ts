import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/**
 * A zip file of any number of files, written as they come and without keeping any of them: its
 * directory, which stands at the end, is gathered in a file beside it. yazl, which spreadsheets are
 * zipped with, keeps an object for each file. Contents are stored as they are: a PDF is compressed.
 */
export type Zip = {
  /** Adds a file; tells where its content begins. */
  add: (name: string, content: Buffer) => Promise<number>
  end: () => Promise<void>
  /** Lets go of it, finished or not; the file itself is whoever's asked for it. */
  close: () => Promise<void>
}

/** Texts are gathered up to so much before they are written. */
const batchBytes = 1 << 18
const utf8Names = 0x0800
/** 1 January 1980, the first day that there is: the same content gives the same bytes. */
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

/** The head of a file: version, flags, method, time, day, checksum, sizes, length of the name. */
function local(fields: readonly number[]): Buffer {
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(45, 4)
  write(head, 6, fields.slice(1))
  return head
}

/** Flags, method, time and day have two bytes each, what follows four, the name's length two. */
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

/** The entry of the directory; a place beyond 4 GiB stands in an extra field. */
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

/** The end of the directory, in the long form as well where the short one cannot hold it. */
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

/** Writes in large pieces, and knows how much there is. */
async function gatherer(path: string) {
  const file: FileHandle = await open(path, 'wx', 0o600)
  let [pieces, held, written]: [Buffer[], number, number] = [[], 0, 0]
  const flush = async () => {
    if (held === 0) return
    const piece = Buffer.concat(pieces)
    ;[pieces, held] = [[], 0]
    await file.writeFile(piece) // all of it: a disk that is nearly full takes a part
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
    drop: () => file.close(), // once more is once
  }
}
