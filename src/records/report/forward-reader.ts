import type { Readable } from 'node:stream'

/** Reads pieces of a file in ascending order of position; an earlier position reopens the file. */
export function forwardReader(open: () => Promise<Readable>) {
  let stream: Readable | undefined
  let pieces: AsyncIterator<Buffer> | undefined
  let held: Buffer = Buffer.alloc(0)
  let at = 0
  const close = () => {
    stream?.destroy()
    stream = undefined
  }
  const more = async () => {
    const { value, done } = await pieces!.next()
    if (done) throw new Error('The file is shorter than it should be.')
    return value as Buffer
  }
  const read = async (from: number, size: number): Promise<Buffer> => {
    if (!stream || from < at) {
      close()
      stream = await open()
      pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
      held = Buffer.alloc(0)
      at = 0
    }
    while (at + held.length < from) {
      at += held.length
      held = await more()
    }
    held = held.subarray(from - at)
    at = from
    while (held.length < size) held = Buffer.concat([held, await more()])
    return held.subarray(0, size)
  }
  return { read, close }
}
