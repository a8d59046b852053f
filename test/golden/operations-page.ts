import { resourceOfEvent } from '../../src/platform/event-types.ts'
import { permissions, roles } from '../../src/platform/permission.ts'
import { accessOf, type Document, readDocument, servedBy } from '../support/openapi.ts'
import type { Service } from '../support/service.ts'

/** A page with all operations, permissions and events, from the service's own description. */
export async function operationsPage({ anyone }: Service): Promise<string> {
  const document = await readDocument(anyone)
  return `# Operations, permissions, events

\`npm run golden\` writes this page from the service's own description, and a test compares them.
\`/docs\` of a running service has every field and lets you try each operation.
[api-guide.md](api-guide.md) shows the operations by task, [error-codes.md](error-codes.md) lists
the refusals, and [glossary.md](glossary.md) explains the terms.

## Operations

*Public* needs no token, *signed in* any token. Some operations need further permissions for parts
of what they do (bank numbers, what is imported, records of other users): see \`/docs\`.

${document.tags.map((tag) => operationsOf(document, tag)).join('\n')}
## Roles

A user has a role or a list of permissions, for all products or for some. An API key has some or all
of its user's permissions. People who do the daily work (Operator) cannot change users, webhooks and
approval rules, unlock a period or approve payment runs.

| Permission | ${Object.keys(roles).join(' | ')} |
|---|${Object.keys(roles)
    .map(() => ':-:|')
    .join('')}
${permissions.map(permissionRow).join('\n')}

## Events

The events of \`GET /Event\` and webhooks. A reader gets the events of the products that they see,
and of the resources for which they have the permission Read or Write.

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
