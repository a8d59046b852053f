/** The headers of a webhook request, named by the Standard Webhooks contract. */
export type WebhookHeaders = { get(name: string): string | null | undefined }

/**
 * The most seconds that a webhook's time may differ from ours: an older request may be a replay.
 */
const tolerance = 300

/**
 * Whether a webhook request comes from the registry unchanged. `body` is the text exactly as
 * received; while a secret is being replaced, pass both secrets.
 */
export async function verifyWebhook(
  body: string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  now = Date.now(),
): Promise<boolean> {
  const id = headers.get('webhook-id')
  const timestamp = headers.get('webhook-timestamp')
  const signatures = headers.get('webhook-signature')
  if (!id || !timestamp || !signatures || !/^\d+$/.test(timestamp)) return false
  if (Math.abs(now / 1000 - Number(timestamp)) > tolerance) return false
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const given = signatures
    .split(' ')
    .flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []))
  for (const secret of [secrets].flat())
    for (const signature of given) if (await isSigned(content, signature, secret)) return true
  return false
}

async function isSigned(content: BufferSource, signature: string, secret: string) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  const signed = bytesOf(signature)
  if (!bytes || !signed) return false
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, signed, content)
}

function bytesOf(base64: string) {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}
