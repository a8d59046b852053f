import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'

/** The files of a zip that stores them uncompressed, as its central directory lists them. */
export function filesIn(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  assert.ok(end > 0, 'it has an end')
  const files = new Map<string, Buffer>()
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(zip.readUInt32LE(at), 0x02014b50)
    const [sum, size] = [zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 24)]
    const [title, extra] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)]
    const name = zip.subarray(at + 46, at + 46 + title).toString()
    const begin = zip.readUInt32LE(at + 42)
    assert.equal(zip.readUInt32LE(begin), 0x04034b50)
    const from = begin + 30 + zip.readUInt16LE(begin + 26) + zip.readUInt16LE(begin + 28)
    const content = zip.subarray(from, from + size)
    assert.equal(crc32(content), sum, name)
    files.set(name, content)
    at += 46 + title + extra
  }
  return files
}
