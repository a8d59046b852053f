// `npm run client -- http://127.0.0.1:3000`: writes client/generated/api.ts, the types of every
// operation of that registry and the names of its decimal fields, from its OpenAPI document.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const [source = 'http://127.0.0.1:3000', target] = process.argv.slice(2)
const file = target ?? fileURLToPath(new URL('generated/api.ts', import.meta.url))

const document = /^https?:/.test(source)
  ? await (await fetch(`${source.replace(/\/$/, '')}/openapi.json`)).json()
  : JSON.parse(readFileSync(source, 'utf8'))

/** The names under which any schema has a decimal. */
const decimals = new Set()
const walk = (node, name) => {
  if (!node || typeof node !== 'object') return
  if (node.format === 'decimal' && name) decimals.add(name)
  for (const [key, inner] of Object.entries(node)) {
    if (key === 'example' || key === 'enum') continue
    if (key === 'properties')
      for (const [field, schema] of Object.entries(inner)) walk(schema, field)
    else walk(inner, name)
  }
}
walk(document)

const text = ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
const number = ts.factory.createKeywordTypeNode(ts.SyntaxKind.NumberKeyword)
const types = await openapiTS(document, {
  // What has a default may be left out.
  defaultNonNullable: false,
  // Decimals come as texts; they go as texts, or as numbers where that is exact enough.
  transform: ({ format, type }) => {
    if (format !== 'decimal') return undefined
    return Array.isArray(type) ? ts.factory.createUnionTypeNode([text, number]) : text
  },
})
mkdirSync(dirname(file), { recursive: true })
const names = [...decimals].sort().map((name) => `  '${name}',\n`)
writeFileSync(
  file,
  `${astToString(types)}\n/** The fields that are decimals. */\nexport const decimals = [\n${names.join('')}]\n`,
)
