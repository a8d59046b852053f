import { resourceOfEvent } from '../../src/platform/event-types.ts'
import { permissions, roles } from '../../src/platform/permission.ts'
import { accessOf, type Document, readDocument, servedBy } from '../support/openapi.ts'
import type { Service } from '../support/service.ts'

/** A page with all operations, permissions and events, from the service's own description. */
export async function operationsPage({ anyone }: Service): Promise<string> {
  const document = await readDocument(anyone)
  return `# Operations, permissions, events

Written by \`npm run golden\` from what the service says of itself; a test compares them. A running
service has every field at \`/docs\`, where each can be tried; [api-guide.md](api-guide.md) goes by
task, [error-codes.md](error-codes.md) has what is refused, [glossary.md](glossary.md) the words.

## Operations

*Public* needs no token, *signed in* any. Some operations ask for more where it matters (bank
numbers, what is imported, records of others): /docs says so at each.

${document.tags.map((tag) => operationsOf(document, tag)).join('\n')}
## Roles

A user has a role or a list of permissions, over all products or over some; an API key has a part of
its user's. Users, webhooks, approval rules, unlocking a period and approving payment runs are kept
from who does the daily work.

| Permission | ${Object.keys(roles).join(' | ')} |
|---|${Object.keys(roles)
    .map(() => ':-:|')
    .join('')}
${permissions.map(permissionRow).join('\n')}

## Events

What \`GET /Event\` and webhooks tell, in the products that one sees, to who has the permission Read
or Write of the resource.

| Resource | Types |
|---|---|
${[...new Set(resourceOfEvent.values())].map(eventsOf).join('\n')}
`
}

function operationsOf(document: Document, { name, description }: Document['tags'][number]) {
  const rows = servedBy(document)
    .filter(({ operation }) => operation.tags.includes(name))
    .map(({ name: one, operation }) => {
      const access = accessOf(operation).replace('public', '*public*').replace('-', ' ')
      return `| \`${one}\` | ${access.replace('signed in', '*signed in*')} | ${operation.summary} |`
    })
  return `### ${name}

${description}

| Operation | Permission | What it does |
|---|---|---|
${rows.join('\n')}
`
}

const permissionRow = (permission: (typeof permissions)[number]) =>
  `| \`${permission}\` | ${Object.values(roles)
    .map((own) => (own.includes(permission) ? 'yes' : ''))
    .join(' | ')} |`

function eventsOf(resource: string) {
  const types = [...resourceOfEvent].filter(([, one]) => one === resource).map(([type]) => type)
  return `| ${resource} | ${types.map((type) => `\`${type}\``).join(', ')} |`
}
