import { invalid } from '../refusal.ts'

const alphabet = /^[A-Za-z0-9+/_-]*$/

/**
 * Decodes base64 piece by piece and refuses anything else; Buffer.from silently skips other
 * characters.
 */
export function base64Decoder() {
  let kept = ''
  let padded = false

  return {
    push(text: string): Buffer {
      const [letters = '', ...padding] = text.replaceAll(/[ \t\r\n]/g, '').split('=')
      if (padding.some((rest) => rest !== '') || (padded && letters !== '')) throw notBase64()
      if (!alphabet.test(letters)) throw notBase64()
      padded ||= padding.length > 0
      const all = kept + letters
      const whole = all.length - (all.length % 4)
      kept = all.slice(whole)
      return Buffer.from(all.slice(0, whole), 'base64')
    },
    end(): Buffer {
      if (kept.length === 1) throw notBase64()
      return Buffer.from(kept, 'base64')
    },
  }
}

const notBase64 = () => invalid('invalid_value', 'content is not base64.', 'content')

/**
 * Encodes bytes as base64, piece by piece. Three bytes make four letters, so each piece is a
 * multiple of three bytes.
 */
export async function* asBase64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let kept = Buffer.alloc(0)
  for await (const piece of bytes) {
    const all = kept.length > 0 ? Buffer.concat([kept, piece]) : piece
    const whole = all.length - (all.length % 3)
    yield all.toString('base64', 0, whole)
    kept = Buffer.from(all.subarray(whole))
  }
  yield kept.toString('base64')
}

export const base64Length = (bytes: number) => 4 * Math.ceil(bytes / 3)
