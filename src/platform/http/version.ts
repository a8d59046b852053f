import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../refusal.ts'

const apiVersion = '2.0'

export function checkVersion({ headers }: { headers: IncomingHttpHeaders }) {
  if (headers.version !== apiVersion)
    throw invalid('version', `Send the header Version: ${apiVersion}.`, 'Version')
}
