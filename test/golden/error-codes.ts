import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Told = { code: string; status: string; message: string }

const statuses: Record<string, string> = {
  invalid: '400',
  unauthenticated: '401',
  forbidden: '403',
  notFound: '404',
  conflict: '409',
}

/** Where the status stands far from the code; a problem of a body's fields is always 400. */
const told: Record<string, string> = {
  headers_too_large: '431',
  internal: '500',
  timeout: '408',
  too_long: '400, 409',
}
const ofFields = '400'

/** A text as it stands in the sources: one literal, or several joined by plus. */
const literal = String.raw`(?:'(?:[^'\\]|\\.)*'|\x60(?:[^\x60\\]|\\.)*\x60)`
const words = `${literal}(?:\\s*\\+\\s*${literal})*`
const given = `('[a-z][a-z_]+'|\\b[a-zA-Z]+\\b)`
const shapes: [RegExp, (found: string[]) => Told][] = [
  [
    new RegExp(`\\b(${Object.keys(statuses).join('|')})\\(\\s*${given},\\s*(${words})`, 'g'),
    ([kind, code, message]) => ({ status: statuses[kind!]!, code: code!, message: message! }),
  ],
  [
    new RegExp(`\\btryLater\\(\\s*(\\d{3}),\\s*${given},\\s*(${words})`, 'g'),
    ([status, code, message]) => ({ status: status!, code: code!, message: message! }),
  ],
  [
    new RegExp(
      `(?:(?:status:|Refusal\\()\\s*(\\d{3}),\\s*\\[?\\s*\\{?\\s*)?code:\\s*${given},` +
        `(?:\\s*field(?::[^,]+)?,)?\\s*message:\\s*(${words})`,
      'g',
    ),
    ([status, code, message]) => ({ status: status ?? '', code: code!, message: message! }),
  ],
]

/** The rules of every field, whose words are put together from the schema. */
const ofRules = /return \['([a-z_]+)', (?:'([^']+)'|`([^`]+)`)\]/g

const plain = (text: string) =>
  [...text.matchAll(new RegExp(literal, 'g'))]
    .map(([one]) => one.slice(1, -1))
    .join('')
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…')
    .replaceAll("\\'", "'")
    .replaceAll('|', '\\|')
    .replaceAll(/\s+/g, ' ')

function toldIn(path: string): Told[] {
  const text = readFileSync(path, 'utf8')
  const codeOf = (code: string) =>
    code.startsWith("'")
      ? code.slice(1, -1)
      : new RegExp(`const ${code} = '([a-z_]+)'`).exec(text)?.[1]
  const found = shapes.flatMap(([shape, read]) =>
    [...text.matchAll(shape)].flatMap(([, ...groups]) => {
      const one = read(groups)
      const code = codeOf(one.code)
      return code ? [{ ...one, code, message: plain(one.message) }] : []
    }),
  )
  const rules = path.endsWith('shape/rules.ts') ? [...text.matchAll(ofRules)] : []
  return [
    ...found,
    ...rules.map(([, code, one, other]) => ({
      code: code!,
      status: '400',
      message: `A field ${plain(`\`${one ?? other}\``)}.`,
    })),
  ]
}

const sources = () =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name))
    .sort()

/** Every code that a refusal can have, with its status and what it says, as the sources have it. */
export function errorCodesPage(): string {
  const all = sources().flatMap(toldIn)
  const codes = [...new Set(all.map(({ code }) => code))].sort()
  const rows = codes.map((code) => {
    const own = all.filter((one) => one.code === code)
    const known = [...new Set(own.map((one) => one.status).filter(Boolean))].sort().join(', ')
    const status = told[code] ?? (known || ofFields)
    const messages = [...new Set(own.map(({ message }) => message))].sort()
    const more = messages.length > 4 ? `<br>and ${messages.length - 4} more like these` : ''
    const shown = messages.slice(0, 4).join('<br>') + more
    return `| <a id="${code}"></a>\`${code}\` | ${status} | ${shown} |`
  })
  return `# Error codes

Written by \`npm run golden\` from the sources; a test compares them.

A failure has the same envelope as a success, with \`result: false\` and
\`errors: [{ code, field?, message }]\`. The \`code\` stays the same for ever: programs decide by
it. The \`message\` is for the person who has to act; its words may change. Everything wrong with
a body is told at once, and nothing of a refused request is written.

| Status | Means | Send it again? |
|---|---|---|
| 400 | The input is not right, or breaks a rule | after mending it |
| 401 | No token, or one that has run out | after signing in |
| 403 | The permission is missing | no |
| 404 | There is no such record, for you | no |
| 409 | The state of the data refuses it | when that has changed |
| 413, 415, 422 | Too large; not JSON; an Idempotency-Key of something else | after mending it |
| 429, 503 | Too many requests, or busy: see the header Retry-After | yes, after a moment |
| 500 | A fault of ours; the request id is in the log | yes, under its Idempotency-Key |

\`outcome_unknown\` (503) is the one to take care with: the request may have been done. Send it
again under the same \`Idempotency-Key\`.

| Code | Status | What it says (… stands for a value) |
|---|---|---|
${rows.join('\n')}
`
}
