import { median, pgbench } from '../load.ts'
import { atLeast, type Bench, result, type Workload } from '../measure.ts'
import { plainPosting } from './postings.ts'

const rounds = 9
const [clients, seconds] = [8, 2]

/** As the service does it: the audit record of a posting is its event, too. */
const asEvent = (posting: string) =>
  posting
    .replace('insert into audit (', 'insert into audit (is_event, ')
    .replace("values (1, 'bench', 'POST", "values (true, 1, 'bench', 'POST")

/** What the event of a posting costs: rows by a transaction each, with it and without. */
export const events: Workload = async ({ service, size }: Bench) => {
  const plain = plainPosting(size.entities)
  const told = asEvent(plain)
  if (told === plain) throw new Error('There is no audit record to be the event.')
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
