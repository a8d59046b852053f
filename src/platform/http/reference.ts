import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { successBody } from './envelope.ts'
import { icon, logo, script, style } from './reference-page.ts'
import { answerSuccess } from './server.ts'

/** Nothing from elsewhere. The page's own policy lets a few outsiders in, and asks for HTTPS. */
const policy = {
  'default-src': "'self'",
  'img-src': "'self' data:",
  'style-src': "'self' 'unsafe-inline'",
  'object-src': "'none'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
}

/** What stands at the root: the way to the console for a browser, the envelope for programs. */
export function serveRoot(app: FastifyInstance, version: string) {
  const answer = { json: JSON.stringify({ name: 'Registry Platform', version }), recordCount: 1 }
  app.get('/', (request, reply) =>
    /\btext\/html\b/i.test(request.headers.accept ?? '')
      ? reply.redirect('/console/')
      : answerSuccess(reply, successBody(answer)),
  )
}

/** What is made when it is first asked for, and then kept. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * The OpenAPI document and a page to read it on and try calls from, all served from here. The
 * document is made when somebody first asks for it: no start waits for it.
 */
export async function serveReference(app: FastifyInstance, make: () => object) {
  const document = once(make)
  const json = once(() => JSON.stringify(document()))
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(json()))
  // The page asks for this one; its document is given to the page itself, see below.
  await app.register(swagger, { mode: 'static', specification: { document: {} as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    transformSpecification: document,
    transformSpecificationClone: false,
    uiConfig: {
      docExpansion: 'none',
      // Who signs in does so in the page's own bar; see reference-page.ts.
      persistAuthorization: false,
      // Nothing stands armed: a reader opens an operation, and asks to try it.
      tryItOutEnabled: false,
      // Its badge would ask a server on the internet about our document.
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
