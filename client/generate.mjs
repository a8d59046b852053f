// `npm run client -- http://127.0.0.1:3000`: writes client/generated/api.ts, the types of every
// operation of that registry and the names of its decimal fields, from its OpenAPI document; and
// makes the package in client/dist that any project can install, with TypeScript or without.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const [source = 'http://127.0.0.1:3000', target] = process.argv.slice(2)
const here = fileURLToPath(new URL('.', import.meta.url))
const api = join(here, 'generated', 'api.ts')
const dist = target ?? join(here, 'dist')

const document = /^https?:/.test(source)
  ? await (await fetch(`${source.replace(/\/$/, '')}/openapi.json`)).json()
  : JSON.parse(readFileSync(source, 'utf8'))

/** The names of all fields that are decimals in any schema. */
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
  // Fields with a default may be left out of a request.
  defaultNonNullable: false,
  // Decimals are received as texts; they are sent as texts, or as numbers where those are exact
  // enough.
  transform: ({ format, type }) => {
    if (format !== 'decimal') return undefined
    return Array.isArray(type) ? ts.factory.createUnionTypeNode([text, number]) : text
  },
})
mkdirSync(join(here, 'generated'), { recursive: true })
const names = [...decimals].sort().map((name) => `  '${name}',\n`)
writeFileSync(
  api,
  `${astToString(types)}\n/** The fields that are decimals. */\nexport const decimals = [\n${names.join('')}]\n`,
)

const program = ts.createProgram([join(here, 'src', 'index.ts'), api], {
  rootDir: here,
  outDir: dist,
  declaration: true,
  strict: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
  types: [],
  rewriteRelativeImportExtensions: true,
})
const { diagnostics } = program.emit()
const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
if (problems.length > 0) {
  const host = { getCurrentDirectory: () => here, getNewLine: () => '\n' }
  const told = ts.formatDiagnostics(problems, { ...host, getCanonicalFileName: (name) => name })
  throw new Error(told)
}
