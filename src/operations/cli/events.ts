import { setImmediate as turn } from 'node:timers/promises'
import { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { followerOf } from '../../integration/event/follow.ts'
import { EventQuery } from '../../integration/event/schema.ts'
import { queryReader } from '../../platform/shape/input.ts'
import { isHeard, operator, say, withDatabase } from './registry.ts'

type Options = { after?: string; type?: string; product?: string; follow?: boolean }

const readQuery = queryReader(EventQuery)

export const eventsCommand = new Command('events')
  .description('print the event feed, with one line of JSON for each event')
  .option(
    '--after <cursor>',
    'continue after this cursor; "now": only new events (default: from the oldest event kept)',
  )
  .option('--type <types>', 'only events of these types: product.created,biztransaction.posted')
  .option('--product <id>', 'only events of this product')
  .option('--follow', 'keep running and print new events as they arrive')
  .action(async ({ after, type, product, follow }: Options) => {
    const given = { After: after, Type: type, ProductID: product, Wait: follow ? '30' : undefined }
    const pairs = Object.entries(given).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    )
    const query = readQuery(pairs) as EventQuery
    await withDatabase(readConfig(), async (database) => {
      const read = followerOf(
        database.bell,
        new AbortController().signal,
        async (_handle, actor) => actor, // the operator's rights do not end
      )
      for (let After = query.After; ; ) {
        const { json, recordCount, beside } = await read(database, operator, {
          ...query,
          ...(After && { After }),
        })
        for (const event of JSON.parse(json) as object[]) say(JSON.stringify(event))
        await turn() // a closed pipe is reported only after the write
        if (!isHeard() || (recordCount === 0 && !follow)) return
        After = String(beside?.cursor)
      }
    })
  })
