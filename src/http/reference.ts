import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** The OpenAPI document and a page to read it on and try calls from, all served from here. */
export async function serveReference(app: FastifyInstance, document: object) {
  const json = JSON.stringify(document)
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(json))
  await app.register(swagger, {
    mode: 'static',
    specification: { document: document as never },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { docExpansion: 'none', persistAuthorization: false, tryItOutEnabled: true },
    theme: { title: 'Registry Platform' },
  })
}
