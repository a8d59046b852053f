/** The headers of a webhook, as the Standard Webhooks contract names them. */
export type WebhookHeaders = { get(name: string): string | null | undefined }

/** How far a webhook's time may be from ours, in seconds: an old one may be somebody's replay. */
const tolerance = 300

/**
 * Whether a webhook comes from the registry and is as it was sent. `body` is the text as it came;
 * while a secret is being replaced, give both.
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
