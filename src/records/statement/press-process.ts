import { letterOf } from './kinds.ts'
import { type Paper, printLetters } from './press.ts'
import type { PressOrder, PressTask } from './press-pool.ts'

/** The program of a printing process: it first receives the order, then tasks. */
let order: PressOrder | undefined
let paper: Paper | undefined

process.on('message', (message: { order: PressOrder } | PressTask) => {
  if ('order' in message) {
    order = message.order
    const { issuer, logo, moment } = order
    paper = { issuer, moment, logo: logo && Buffer.from(logo) }
    return
  }
  print(message).then(
    (letters) => process.send!({ id: message.id, letters }),
    (error: Error) => process.send!({ id: message.id, error: error.stack ?? error.message }),
  )
})
process.on('disconnect', () => process.exit(0))

async function print({ rows }: PressTask): Promise<Buffer[]> {
  const { kindID, shared } = order! // the order arrives before the first task
  const letters: Buffer[] = []
  for (const row of rows) letters.push(await printLetters(paper!, [letterOf(kindID, shared, row)]))
  return letters
}
