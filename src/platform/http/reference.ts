import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { successBody } from './envelope.ts'
import { icon, logo, script, style } from './reference-page.ts'
import { answerSuccess } from './server.ts'

/**
 * The page loads nothing from other hosts. Its default policy would allow a few outside sources and
 * upgrade requests to HTTPS.
 */
const policy = {
  'default-src': "'self'",
  'img-src': "'self' data:",
  'style-src': "'self' 'unsafe-inline'",
  'object-src': "'none'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
}

/** The root path: browsers are redirected to the console, programs get the envelope. */
export function serveRoot(app: FastifyInstance, version: string) {
  const answer = { json: JSON.stringify({ name: 'Registry Platform', version }), recordCount: 1 }
  app.get('/', (request, reply) =>
    /\btext\/html\b/i.test(request.headers.accept ?? '')
      ? reply.redirect('/console/')
      : answerSuccess(reply, successBody(answer)),
  )
}

/** Makes a value on first use and keeps it. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * Serves the OpenAPI document and a page for reading it and trying calls, all from this server. The
 * document is made on first request, so that the start does not wait for it.
 */
export async function serveReference(app: FastifyInstance, make: () => object) {
  const document = once(make)
  const json = once(() => JSON.stringify(document()))
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(json()))
  // The page requires this plugin; the document itself comes from transformSpecification below.
  await app.register(swagger, { mode: 'static', specification: { document: {} as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    transformSpecification: document,
    transformSpecificationClone: false,
    uiConfig: {
      docExpansion: 'none',
      // Readers sign in with the page's own bar; see reference-page.ts.
      persistAuthorization: false,
      // Readers must first open an operation and choose to try it.
      tryItOutEnabled: false,
      // The validator's badge would send our document to a server on the internet.
      validatorUrl: null,
    },
    logo: { type: 'image/svg+xml', content: Buffer.from(logo), href: '/docs', target: '_self' },
    theme: {
      title: 'Registry Platform',
      js: [{ filename: 'sign-in.js', content: script }],
      css: [{ filename: 'ours.css', content: style }],
      favicon: [
        {
          filename: 'icon.svg',
          rel: 'icon',
          sizes: 'any',
          type: 'image/svg+xml',
          content: Buffer.from(icon),
        },
      ],
    },
  })
}
