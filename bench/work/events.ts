import { median, pgbench } from '../load.ts'
import { atLeast, type Bench, result, type Workload } from '../measure.ts'
import { plainPosting } from './postings.ts'

const rounds = 9
const [clients, seconds] = [8, 2]

/** Marks the audit record of the posting as its event, as the service does. */
const asEvent = (posting: string) =>
  posting
    .replace('insert into audit (', 'insert into audit (is_event, ')
    .replace("values (1, 'bench', 'POST", "values (true, 1, 'bench', 'POST")

/** The cost of a posting's event: one database transaction per posting, with and without it. */
export const events: Workload = async ({ service, size }: Bench) => {
  const plain = plainPosting(size.entities)
  const told = asEvent(plain)
  if (told === plain) throw new Error('There is no audit record to be the event.')
  const perSecond = (script: string) => pgbench(service.connection, script, clients, seconds)
  const pairs: { subject: number; against: number }[] = []
  for (let round = 0; round < rounds; round++) {
    // Whichever runs second meets what the first left behind, so they take turns in being first.
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

/** The pair whose ratio is the median: noise of the machine affects both figures of a pair. */
function middleOf(pairs: { subject: number; against: number }[]) {
  const ratio = median(pairs.map(({ subject, against }) => subject / against))
  return pairs.find(({ subject, against }) => subject / against === ratio)!
}
