import { X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { Server } from 'node:https'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { fitTogether, type Tls } from '../../config.ts'

export const oldestProtocol = 'TLSv1.2'

/** How often the files are checked, in milliseconds. */
const interval = 1_000

/**
 * Takes over a renewed certificate for new connections: a node runs longer than a certificate is
 * valid. Until the certificate and the key in the files match, the previous pair stays in use.
 */
export function followRenewals(app: FastifyInstance, { files }: Tls, logger: FastifyBaseLogger) {
  const server = app.server as unknown as Server
  const renew = () => {
    try {
      const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)]
      if (!fitTogether(cert, key)) throw new Error('the certificate and the key are no pair')
      server.setSecureContext({ cert, key, minVersion: oldestProtocol })
      const { validTo } = new X509Certificate(cert)
      logger.info({ validTo }, 'the certificate was renewed')
    } catch (error) {
      const { message } = error as Error
      logger.warn({ message }, 'the certificate was changed, and the one of before stays')
    }
  }
  const watched = [files.cert, files.key]
  for (const file of watched) watchFile(file, { interval, persistent: false }, renew)
  app.addHook('onClose', async () => {
    for (const file of watched) unwatchFile(file, renew)
  })
}
