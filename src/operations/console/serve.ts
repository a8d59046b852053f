import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type SessionOptions, serveSession } from './session.ts'

export type ConsoleOptions = SessionOptions & {
  /** The folder of the built console; see scripts/run.mjs. */
  folder: string
}

/**
 * The content security policy. Scripts come only from this server, not from the page or from text.
 * Inline styles are allowed, because the components use them for sizes and positions. Pictures and
 * PDFs that were fetched with a token are shown from memory (blob:).
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  'frame-src blob:',
  'object-src blob:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

const oneYear = 365 * 24 * 60 * 60 * 1000

/** Serves the console under /console/: its page, its assets and its session endpoints. */
export async function serveConsole(app: FastifyInstance, options: ConsoleOptions) {
  const { folder } = options
  serveSession(app, options)
  const page = readPage(folder)
  const answerPage = (request: FastifyRequest, reply: FastifyReply) =>
    sendPage(request, reply, page)
  app.get('/console', answerPage)
  app.get('/console/*', answerPage)
  const assets = join(folder, 'assets')
  if (!existsSync(assets)) return
  await app.register(files, {
    root: assets,
    prefix: '/console/assets/',
    decorateReply: false,
    preCompressed: true,
    index: false,
    // A file's name contains the hash of its content, so the file never changes.
    immutable: true,
    maxAge: oneYear,
  })
}

type Page = { html: string; etag: string }

/**
 * Reads the page that every address of the console gets; the page itself decides which view to
 * show.
 */
function readPage(folder: string): Page {
  const file = join(folder, 'index.html')
  const html = existsSync(file) ? readFileSync(file, 'utf8') : notBuilt
  return { html, etag: `"${createHash('sha256').update(html).digest('base64url')}"` }
}

const notBuilt = `<!doctype html><html lang="en"><title>Registry Platform</title>
<p>The console is not built here. Start the service with <code>npm start</code>, which builds it.
The <a href="/docs">reference of the API</a> works without.</p></html>
`

function sendPage({ headers }: FastifyRequest, reply: FastifyReply, { html, etag }: Page) {
  reply.headers(pageHeaders).header('etag', etag)
  if (headers['if-none-match'] === etag) return reply.code(304).send()
  return reply.type('text/html; charset=utf-8').send(html)
}
