import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** Nothing from elsewhere. The page's own policy lets a few outsiders in, and asks for HTTPS. */
const policy = {
  'default-src': "'self'",
  'img-src': "'self' data:",
  'style-src': "'self' 'unsafe-inline'",
  'object-src': "'none'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
}

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
    staticCSP: policy,
    uiConfig: {
      docExpansion: 'none',
      persistAuthorization: false,
      tryItOutEnabled: true,
      // Its badge would ask a server on the internet about our document.
      validatorUrl: null,
    },
    theme: { title: 'Registry Platform' },
  })
}
