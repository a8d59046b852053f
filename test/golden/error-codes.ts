import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemCodes } from '../../src/platform/problem-codes.ts'

/** A place in the sources that refuses a request, with its code and its words. */
type Told = { code: string; message: string }

/** A placeholder inside a template literal, which may contain template literals itself. */
const value = String.raw`\$\{(?:[^{}\x60]|\x60[^\x60]*\x60|\{[^{}]*\})*\}`
/** A string literal in the sources; `words` is one of them, or several joined by plus. */
const literal = String.raw`(?:'(?:[^'\\]|\\.)*'|\x60(?:${value}|[^\x60\\]|\\.)*\x60)`
const words = `${literal}(?:\\s*\\+\\s*${literal})*`
const given = `('[a-z][a-z_]+'|\\b[a-zA-Z]+\\b)`
/** The forms in which a refusal is written; each has the code first, then the words. */
const shapes = [
  `\\b(?:invalid|unauthenticated|forbidden|notFound|conflict)\\(\\s*${given},\\s*(${words})`,
  `\\btryLater\\(\\s*\\d{3},\\s*${given},\\s*(${words})`,
  `code:\\s*${given},(?:\\s*field(?::[^,]+)?,)?\\s*message:\\s*(${words})`,
].map((shape) => new RegExp(shape, 'g'))

/** The refusals of the general rules for fields, whose words come from the schema. */
const ofRules = /return \['([a-z_]+)', (?:'([^']+)'|`([^`]+)`)\]/g

const plain = (text: string) =>
  [...text.matchAll(new RegExp(literal, 'g'))]
    .map(([one]) => one.slice(1, -1))
    .join('')
    .replaceAll(new RegExp(value, 'g'), '…')
    .replaceAll("\\'", "'")
    .replaceAll('|', '\\|')
    .replaceAll(/\s+/g, ' ')

function toldIn(path: string): Told[] {
  const text = readFileSync(path, 'utf8')
  const codeOf = (code: string) =>
    code.startsWith("'")
      ? code.slice(1, -1)
      : new RegExp(`const ${code} = '([a-z_]+)'`).exec(text)?.[1]
  const found = shapes.flatMap((shape) =>
    [...text.matchAll(shape)].flatMap(([, name, message]) => {
      const code = codeOf(name!)
      return code ? [{ code, message: plain(message!) }] : []
    }),
  )
  const rules = path.endsWith('shape/rules.ts') ? [...text.matchAll(ofRules)] : []
  return [
    ...found,
    ...rules.map(([, code, one, other]) => ({
      code: code!,
      message: `A field ${plain(`\`${one ?? other}\``)}.`,
    })),
  ]
}

const sources = () =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name))
    .sort()

/** How many messages are shown for each code. */
const samples = 3

/**
 * The page of all codes in platform/problem-codes.ts: their meaning, their statuses as the OpenAPI
 * document lists them by operation, and some messages from the sources.
 */
export function errorCodesPage(): string {
  const all = sources().flatMap(toldIn)
  const rows = [...problemCodes].map(([code, { statuses, meanings }]) => {
    const own = all.filter((one) => one.code === code).map(({ message }) => message)
    const messages = [...new Set(own)].sort()
    const more = messages.length > samples ? `<br>and ${messages.length - samples} more` : ''
    const shown = messages.slice(0, samples).join('<br>') + more
    const means = meanings.join('<br>')
    return `| <a id="${code}"></a>\`${code}\` | ${statuses.join(', ')} | ${means} | ${shown} |`
  })
  return `# Error codes

Written by \`npm run golden\` from \`src/platform/problem-codes.ts\` and the other sources; a test
compares them. \`/openapi.json\` lists, for each operation and status, the codes it can refuse with.

A failure has the same envelope as a success, with \`result: false\` and
\`errors: [{ code, field?, message }]\`. Programs decide by the \`code\`, which never changes. The
\`message\` is for the person who has to act, and its wording may change. A refusal lists everything
that is wrong with a body, and a refused request writes nothing.

| Status | Meaning | Send it again? |
|---|---|---|
| 400 | The input is not valid, or breaks a rule | after correcting it |
| 401 | The token is missing, not valid or expired | after signing in |
| 403 | The permission is missing | no |
| 404 | There is no such record, or you may not see it | no |
| 405 | The path does not support the method | no |
| 408 | The request did not arrive in time | yes |
| 409 | The current state of the data does not allow it | when the state has changed |
| 410 | The events after the cursor are gone | no: read all again, go on with \`After=now\` |
| 412 | The record has changed since it was read (If-Match) | after reading it again |
| 413, 431 | The body, the file or the headers are too large | after making it smaller |
| 415 | The body is not JSON, or the file is not of an accepted type | after correcting it |
| 422 | The Idempotency-Key was used for another request | with a new key |
| 429, 503 | Too many requests, or busy: see the Retry-After header | yes, after a moment |
| 500 | An internal error; the log has it under the request id | yes, under its Idempotency-Key |

Take care with \`outcome_unknown\` (503): the request may have been carried out. Send it again under
the same \`Idempotency-Key\`.

| Code | Status | Meaning | Examples of messages (… stands for a value) |
|---|---|---|---|
${rows.join('\n')}
`
}
