import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventTypes } from '../../src/platform/event-types.ts'
import { freshDatabase } from '../support/database.ts'
import { feedEnd, readEvents } from '../support/events.ts'
import { type Node, startNode } from '../support/node.ts'
import { encryptionKey, mailNowhere } from '../support/service.ts'
import { walkEveryOperation } from '../support/walker.ts'

/** Events that a walk cannot raise, because something must fail or end later; tested elsewhere. */
const elsewhere = [
  'bizevent.completed', // event.test.ts
  'import.cancelled', // import-turns.test.ts: the walk's import may have ended before
  'import.completed', // import.test.ts: or not
  'import.failed', // import-files.test.ts
  'report.failed', // report.test.ts
  'webhook.deactivated', // webhook.test.ts
]

let service: Node
before(async () => {
  const env = { ...mailNowhere, REGISTRY_ENCRYPTION_KEY: encryptionKey }
  service = await startNode(await freshDatabase(), env)
})
after(() => service?.stop())

describe('Every type of event', () => {
  it('is raised by what a walk through all operations does', async () => {
    assert.deepEqual(await walkEveryOperation(service.admin), [])
    await feedEnd(service.admin) // by then all of it is in the feed
    const { events } = await readEvents(service.admin, { PageSize: 1000 })
    const seen = new Set([...events.map(({ type }) => type), ...elsewhere])
    const missing = eventTypes.filter((type) => !seen.has(type))
    assert.deepEqual(missing, [])
  })
})
