export {
  type CallOptions,
  type ClientOptions,
  createClient,
  type RegistryEvent,
} from './client.ts'
export { type Problem, RegistryError } from './errors.ts'
export { parseExactly } from './json.ts'
export type { Credentials } from './session.ts'
export { isWaiting, type Waiting } from './waiting.ts'
export { verifyWebhook, type WebhookHeaders } from './webhook.ts'
