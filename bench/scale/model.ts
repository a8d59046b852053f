/**
 * Estimates how many servers a register of a size needs, from the measured cost of single
 * operations. Nothing here was measured on more than one machine; docs/SCALING.md says which
 * figures are measured.
 */

/** The seconds of one core that an operation takes, in the service and its database together. */
export type Costs = {
  posting: number
  postingInArray: number
  entityRead: number
  entityWrite: number
  /** The cost of a distribution for each account: declared, paid and reinvested. */
  distribution: number
}

/** What happens to one account in a year. Change these figures first: registers differ in them. */
export type Habits = {
  postings: number
  postingsInArrays: number
  reads: number
  entityWrites: number
  distributions: number
  /** How many times busier the busiest hour is than an average hour. */
  peak: number
  /** The hours in which all distributions of a day must be finished. */
  distributionHours: number
}

const habits: Habits = {
  postings: 4,
  postingsInArrays: 12,
  reads: 60,
  entityWrites: 1,
  distributions: 4,
  peak: 20,
  distributionHours: 2,
}

/** A server: half of its cores stay free for peaks, maintenance and the load of a lost server. */
const server = { cores: 16, usable: 0.5, diskBytes: 4e12 }

/**
 * Bytes of a row with its index entries, measured on filled tables. `record` is an audit record or
 * an event, and assumed.
 */
const bytes = {
  transaction: 371,
  holding: 275,
  ledgerAccount: 177,
  entity: 1727,
  record: 600,
}

/** The cost of operations through a Citus coordinator, relative to one server: from trials here. */
const citus = { posting: 1 / 0.75, array: 1 / 1.2, stage: 1 / 0.6, entityWrite: 10 }

export type Need = {
  accounts: number
  /** The cores that writes, reads and stages keep busy in the busiest hour. */
  write: number
  read: number
  stage: number
  nodes: number
  standbys: number
  workers: number
  /** The hours of a distribution if all accounts are of one product: its stages run in sequence. */
  hours: number
  /** Bytes after ten years of the ledger, and of the tables that are copied to every server. */
  ledger: number
  identity: number
  wall: string
}

const year = 365.25 * 24 * 3600
/** The share of the service itself in the cost of an operation; the rest is the database. */
const ofService = 0.4

export function need(accounts: number, costs: Costs, habit: Habits = habits): Need {
  const rate = (times: number) => (accounts * times * habit.peak) / year
  const post = rate(habit.postings) * costs.posting
  const arrays = rate(habit.postingsInArrays) * costs.postingInArray
  const entities = rate(habit.entityWrites) * costs.entityWrite
  const write = post + arrays + entities
  const read = rate(habit.reads) * costs.entityRead
  const stage = (accounts * costs.distribution) / (habit.distributionHours * 3600)
  const usable = server.cores * server.usable
  const transactions = habit.postings + habit.postingsInArrays + 2 * habit.distributions
  const ledger =
    accounts * (bytes.holding + bytes.ledgerAccount + 10 * transactions * bytes.transaction)
  const identity = accounts * bytes.entity + accounts * 10 * transactions * 2 * bytes.record
  const primary = write * (1 - ofService) + stage
  const isOne = primary <= usable && ledger + identity <= server.diskBytes
  const spread =
    (post * citus.posting + arrays * citus.array) * (1 - ofService) + stage * citus.stage
  const workers = isOne
    ? 0
    : Math.max(2, Math.ceil(spread / usable), Math.ceil(ledger / server.diskBytes))
  return {
    accounts,
    write,
    read,
    stage,
    nodes: Math.max(2, Math.ceil(((write + read) * ofService) / (server.usable * 4))),
    standbys: Math.max(2, Math.ceil((read * (1 - ofService)) / usable)),
    workers,
    hours: (accounts * costs.distribution * (isOne ? 1 : citus.stage)) / 3600,
    ledger,
    identity,
    wall: wallOf({ entities: entities * citus.entityWrite, usable, identity, isOne }),
  }
}

type Wall = { entities: number; usable: number; identity: number; isOne: boolean }

/** The next limit that a growing register would meet. */
function wallOf({ entities, usable, identity, isOne }: Wall): string {
  if (isOne) return 'one product whose postings fill a server'
  if (entities > usable) return 'writes of investors, which every server gets'
  if (identity > server.diskBytes) return 'the disk of the coordinator, for the audit trail'
  return 'one product larger than a worker'
}
