import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { ApprovalGate, Request, WriteEndpoint } from '../../platform/http/endpoint.ts'
import { canWait, type KeptForApproval } from '../../platform/http/waiting.ts'
import { sealedWith } from '../../platform/secrets.ts'
import type { Database, Sql, Tx } from '../../platform/sql/handle.ts'
import { unitOfWork, type Write, type Written } from '../../platform/sql/unit-of-work.ts'
import { cannotWait } from './elsewhere.ts'
import { matches, mayMatch, type Rule } from './match.ts'
import { subjectOf } from './same.ts'
import { activeRules } from './sql.ts'

/** Encrypts a request while it waits: it may hold tax numbers, passwords and bank accounts. */
export type Seal = { seal: (text: string) => string; unseal: (text: string) => string }

export const requestsSealedWith = (key: Buffer): Seal =>
  sealedWith(
    key,
    'The request was kept under another JWT secret and cannot be read: reject it, and have it ' +
      'sent again.',
  )

type Taken = Request<unknown, unknown>

/**
 * How long rules are cached, in milliseconds: a changed rule reaches every node within a second.
 */
const keptFor = 500
/** For this long after a change of a rule began on this node, rules are read for every write. */
const changingFor = 5_000

/** The parts of a request that are kept while it waits. */
export type KeptRequest = {
  query: unknown
  body: unknown
  isList: boolean
  /**
   * The If-Match header of the maker: the record must still have this version when the write is
   * done.
   */
  ifMatch?: string | undefined
  /** The API key that made the request: the write is done with the rights that the key has then. */
  apiKeyID?: number | undefined
  /** The secret that the write made, which its maker was shown: it is the one that is set. */
  secret?: string | undefined
  /** Which records the write was about, and the money it came to: see same.ts. */
  subject?: string[] | undefined
}

/**
 * Holds back writes that an approval rule is about. The write is done in full first, so that it has
 * passed all checks and its changes are known. If a rule matches the changes, the write is undone
 * and the request is kept, all in one transaction; otherwise the write stays done. A file cannot be
 * kept, so such an upload is refused. Without rules the gate only looks at the cached list.
 */
export function approvalGate(database: Database, { seal }: Seal): ApprovalGate {
  const rules = rulesKept(database)
  return async (endpoint, taken, write, perform) => {
    if (endpoint.resource === 'ApprovalRule') rules.change()
    const active = await rules.now()
    if (active.length === 0 || !(canWait(endpoint) || isFile(endpoint))) return undefined
    const candidates = active.filter((rule) => mayMatch(rule, endpoint, taken.body))
    if (candidates.length === 0) return undefined
    return unitOfWork(database, write, async (tx) => {
      await tx.query(sql`savepoint nothing_done`)
      const written = await perform(tx)
      const isFree = written.refusal || isOwn(endpoint, taken, written)
      const rule = isFree ? undefined : ruleFor(candidates, endpoint, written)
      if (!rule) return written
      if (isFile(endpoint)) throw cannotWait('a file')
      await tx.query(sql`set constraints all immediate`)
      await tx.query(sql`rollback to savepoint nothing_done`)
      const request = seal(textOf(taken, written, write))
      return keep(tx, write, { rule, written, request, actor: taken.actor })
    })
  }
}

const isFile = ({ kind }: WriteEndpoint) => kind === 'upload'

/** Whether callers act on themselves: nobody else approves a change of one's own password. */
const isOwn = ({ ofOthers }: WriteEndpoint, { actor }: Taken, { ids }: Written) =>
  ofOthers !== undefined && ids.includes(actor.userID)

const ruleFor = (candidates: Rule[], endpoint: WriteEndpoint, written: Written) =>
  candidates.find((one) => matches(one, endpoint, written))

function rulesKept(handle: Sql) {
  let [until, changed] = [0, Number.NEGATIVE_INFINITY]
  let rules: Promise<Rule[]> | undefined
  const now = () => {
    const moment = performance.now()
    if (rules && moment < until && moment > changed + changingFor) return rules
    until = moment + keptFor
    const asked = activeRules(handle)
    rules = asked
    asked.catch(() => {
      rules = undefined
    })
    return asked
  }
  const change = () => {
    changed = performance.now()
  }
  return { now, change }
}

const textOf = (taken: Taken, written: Written, write: Write) => {
  const { query, body, pathOf, headers, actor } = taken
  const kept: KeptRequest = {
    query,
    body,
    isList: pathOf(0) !== '',
    ifMatch: headers['if-match'],
    apiKeyID: actor.apiKeyID,
    secret: written.secret,
    subject: subjectOf(written, isOfNew(write)),
  }
  return JSON.stringify(kept)
}

/**
 * Whether the write creates its records: once the rehearsal is undone, their ids name nothing. A
 * new parent link is identified by its child, which exists already, so it is excluded. PayResiduals
 * is matched by its operation because it raises no event.
 */
export const isOfNew = ({ event, operation }: Write) =>
  /(?<!parent)\.(created|posted|configured)$/.test(event ?? '') ||
  operation === 'POST /Distribution/PayResiduals'

/** The rule without the products that the caller does not see. */
const asSeenBy = ({ productIDs }: Actor, rule: Rule): Rule => ({
  ...rule,
  productIDs: rule.productIDs?.filter((id) => productIDs?.includes(id) ?? true) ?? null,
})

type Kept = { rule: Rule; written: Written; request: string; actor: Actor }

async function keep(tx: Tx, write: Write, kept: Kept): Promise<Written> {
  const { rule, written, request, actor } = kept
  const { productID, changes = null, secret } = written
  const ids = isOfNew(write) ? null : [...written.ids]
  const [row] = await tx.query<{ approvalID: number }>(sql`
    insert into approval (operation, resource, product_id, user_id, api_key_id, username,
      approval_rule_id, required_approvals, request, changes, resource_ids)
    values (${write.operation}, ${write.resource}, ${productID ?? null}, ${write.userID},
      ${actor.apiKeyID}, ${write.username}, ${rule.approvalRuleID}, ${rule.requiredApprovals},
      ${request},
      ${JSON.stringify(changes)}::json, ${ids}::bigint[])
    returning approval_id as "approvalID"`)
  const { approvalID } = row!
  const data: KeptForApproval = {
    ...{ approvalID, changes, rule: asSeenBy(actor, rule) },
    ...(secret !== undefined && { secret }),
  }
  return {
    json: JSON.stringify(data),
    recordCount: 1,
    accepted: true,
    message: 'Kept until it is approved.',
    ids: [approvalID],
    productID,
    resource: 'Approval',
    events: [{ type: 'approval.requested', resource: 'Approval', ids: [approvalID], productID }],
    changes: { approvalID, resource: write.resource, changes },
  }
}
