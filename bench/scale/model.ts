/**
 * How many servers a register of a size takes: arithmetic on what single operations cost here.
 * Nothing in it is a measurement of more than one machine; docs/SCALING.md says which figures are.
 */

/** Seconds of one core that an operation takes, of the service and of its database together. */
export type Costs = {
  posting: number
  postingInArray: number
  entityRead: number
  entityWrite: number
  /** Of a distribution, for each account: declared, paid, reinvested. */
  distribution: number
}

/** What a year of one account is. Change these first: a register is not like another. */
export type Habits = {
  postings: number
  postingsInArrays: number
  reads: number
  entityWrites: number
  distributions: number
  /** The busiest hour against an even one. */
  peak: number
  /** All distributions of a day must be through by then. */
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

/** Of a server: half of its cores are kept free for peaks, upkeep and a lost neighbour. */
const server = { cores: 16, usable: 0.5, diskBytes: 4e12 }

/** Measured on filled tables, with their indexes; of an audit record and of an event assumed. */
const bytes = {
  transaction: 371,
  holding: 275,
  ledgerAccount: 177,
  entity: 1727,
  record: 600,
}

/** What the way over a coordinator costs, against one server: from trials on one machine. */
const citus = { posting: 1 / 0.75, array: 1 / 1.2, stage: 1 / 0.6, entityWrite: 10 }

export type Need = {
  accounts: number
  /** Cores, at the busiest. */
  write: number
  read: number
  stage: number
  nodes: number
  standbys: number
  workers: number
  /** One distribution, were they all of one product: its stages are one after another. */
  hours: number
  /** Bytes of the ledger after ten years, and of what is copied to every server. */
  ledger: number
  identity: number
  wall: string
}

const year = 365.25 * 24 * 3600
/** The service itself is about two fifths of what an operation costs; the database the rest. */
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

/** What would be in the way next. */
function wallOf({ entities, usable, identity, isOne }: Wall): string {
  if (isOne) return 'one product whose postings fill a server'
  if (entities > usable) return 'writes of investors, which every server gets'
  if (identity > server.diskBytes) return 'the disk of the coordinator, for the audit trail'
  return 'one product larger than a worker'
}
