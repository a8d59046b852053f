import { median, pgbench } from '../load.ts'
import { atLeast, type Bench, result, type Workload } from '../measure.ts'
import { plainPosting } from './postings.ts'

const rounds = 9
const [clients, seconds] = [8, 2]

/** As the service does it: in the statement of the audit record. */
const audit = 'insert into audit ('
const withEvent = `with raised as (
  insert into event (type, resource, product_id, ids, user_id)
  values ('biztransaction.posted', 'BizTransaction', 1, array[:account]::bigint[], 1))
${audit}`

/** What the event of a posting costs: its rows, by a transaction each, with it and without. */
export const events: Workload = async ({ service, size }: Bench) => {
  const plain = plainPosting(size.entities)
  const told = plain.replace(audit, withEvent)
  if (told === plain) throw new Error('There is no audit record to raise the event beside.')
  const perSecond = (script: string) => pgbench(service.connection, script, clients, seconds)
  const pairs: { subject: number; against: number }[] = []
  for (let round = 0; round < rounds; round++) {
    // Whichever comes second finds what the first has left behind: they take turns in it.
    const first = round % 2 === 0
    const one = perSecond(first ? told : plain)
    const other = perSecond(first ? plain : told)
    pairs.push(first ? { subject: one, against: other } : { subject: other, against: one })
  }
  return [
    result(
      {
        number: '12',
        work: 'pgbench, one transaction per posting with its event, 8 clients',
        baseline: `the same without the event, in turns; the median of ${rounds} pairs`,
        unit: 'a second',
      },
      middleOf(pairs),
      atLeast(0.95),
    ),
  ]
}

/** The pair whose ratio is the median: noise of the machine meets both of a pair. */
function middleOf(pairs: { subject: number; against: number }[]) {
  const ratio = median(pairs.map(({ subject, against }) => subject / against))
  return pairs.find(({ subject, against }) => subject / against === ratio)!
}
