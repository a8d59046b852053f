import type { Resource } from '../../platform/permission.ts'
import { compareDecimals, plainDecimal } from '../../platform/shape/decimal.ts'
import { parseJson, WrittenNumber } from '../../platform/shape/json.ts'
import { ownID } from '../../platform/shape/mask.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'

export type Rule = {
  approvalRuleID: number
  operation: string | null
  resource: string | null
  fields: string[] | null
  minimumAmount: string | null
  productIDs: number[] | null
  requiredApprovals: number
}

type About = { operation: string; resource: string }

/** Resources that are written inside other records, by the name of the field that holds them. */
const nested: Record<string, Resource> = {
  paymentdetails: 'PaymentDetail',
  addresses: 'Address',
  communications: 'Communication',
  person: 'Person',
  persons: 'Person',
  organisation: 'Organisation',
  deleteddocuments: 'Document',
  updateddocuments: 'Document',
}

const nestedResources = new Set<string>(Object.values(nested))
/**
 * Resources that contain nested records: a PUT may drop those it leaves out, and a DELETE removes
 * all.
 */
const owners = new Set<string>(['BizEntity', 'Person', 'Organisation'])

/** Whether a rule could match a write, judged before the write is tried. */
export function mayMatch(rule: Rule, { operation, resource }: About, body: unknown): boolean {
  if (rule.operation) return rule.operation.toLowerCase() === operation.toLowerCase()
  const takesAlong = owners.has(resource) && !operation.startsWith('POST ')
  return (
    rule.resource === resource ||
    (takesAlong && nestedResources.has(rule.resource!)) ||
    holds(body, rule.resource!)
  )
}

const holds = (value: unknown, resource: string): boolean =>
  entriesOf(value).some(
    ([name, inner]) => nested[name.toLowerCase()] === resource || holds(inner, resource),
  )

/** Whether a rule holds back a write, judged by what the write changes. */
export function matches(rule: Rule, about: About, written: Written): boolean {
  const { productIDs, minimumAmount, fields } = rule
  const { productID } = written
  if (productIDs && productID !== undefined && !productIDs.includes(productID)) return false
  if (minimumAmount !== null && !reaches(written, minimumAmount)) return false
  const changes = within(rule, about, written.changes)
  if (changes === undefined) return false
  if (fields === null || isMoved(about, changes)) return true
  const changed = new Set([...changedNames(changes)].map((name) => name.toLowerCase()))
  return fields.some((field) => changed.has(field.toLowerCase()))
}

/** Whether a record moves to another owner, for whom each of its fields is new. */
const isMoved = ({ resource }: About, changes: unknown) =>
  nestedResources.has(resource) &&
  entriesOf(changes).some(
    ([name, change]) => ownerIDs.has(name) && isChange(change) && change.from !== null,
  )
const ownerIDs = new Set(['bizEntityID', 'personID', 'organisationID'])

/** The part of the changes that is about the rule's resource; undefined when there is none. */
function within({ resource }: Rule, about: About, changes: unknown): unknown {
  if (resource === null || resource === about.resource) return changes ?? {}
  const parts = [...partsOf(changes, resource)]
  return parts.length > 0 ? parts : undefined
}

function* partsOf(value: unknown, resource: string): Generator<unknown> {
  for (const [name, inner] of entriesOf(value))
    if (nested[name.toLowerCase()] === resource) yield* isEmpty(inner) ? [] : [inner]
    else if (name === 'taxNumbers') yield* taxNumbersOf(inner, resource)
    else yield* partsOf(name === 'deleted' ? ownIn(inner) : inner, resource)
}

const isEmpty = (value: unknown) => entriesOf(value).length === 0

/** The fields of a deleted record that go with it: linked persons and organisations stay. */
const ownIn = (record: unknown) =>
  Object.fromEntries(entriesOf(record).filter(([name]) => !links.has(name)))
const links = new Set(['bizEntityParties', 'associatedPersons'])

/**
 * Changes of tax numbers are listed beside the record, each with the path of its holder, because
 * two masks may look alike.
 */
function* taxNumbersOf(value: unknown, resource: string): Generator<unknown> {
  for (const [, one] of entriesOf(value)) {
    const { path, ...fields } = one as { path: string }
    const holder = /(\w+)(\[\d+\])?$/.exec(path)?.[1] ?? ''
    if (nested[holder.toLowerCase()] === resource) yield fields
  }
}

/** The names of the fields that change, at any depth. Of plain values, all given fields count. */
function* changedNames(value: unknown): Generator<string> {
  if (isChange(value)) {
    const visible = [...differences(value.from, value.to)]
    // Masked values look alike on both sides: then any of the fields may have changed.
    yield* visible.length > 0 ? visible : [...allNames(value.from), ...allNames(value.to)]
    return
  }
  for (const [name, inner] of entriesOf(value)) {
    yield name
    yield* changedNames(inner)
  }
}

export const isChange = (value: unknown): value is { from: unknown; to: unknown } =>
  entriesOf(value)
    .map(([name]) => name)
    .join() === 'from,to'

function* differences(from: unknown, to: unknown): Generator<string> {
  const [before, after] = [partsByName(from), partsByName(to)]
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name) ?? null, after.get(name) ?? null]
    if (JSON.stringify(was) === JSON.stringify(is)) continue
    yield name
    yield* differences(was, is)
  }
}

/**
 * The parts of a value: fields by name, records of a list by id. An id may occur twice, or in
 * another record's place.
 */
function partsByName(value: unknown): Map<string, unknown> {
  const parts = new Map<string, unknown>()
  for (const [place, part] of entriesOf(value)) {
    const name = Array.isArray(value) ? ownID(part) : place
    parts.set(parts.has(name) ? `${name} ${place}` : name, part)
  }
  return parts
}

function* allNames(value: unknown): Generator<string> {
  for (const [name, inner] of entriesOf(value)) {
    yield name
    yield* allNames(inner)
  }
}

/**
 * Whether a write reaches the minimum, by the amounts in its changes and in its answer, since a
 * request may name none. A write that is only accepted, as a stage over many accounts is, has no
 * amounts yet and may come to any.
 */
function reaches({ changes, json, accepted }: Written, minimum: string): boolean {
  if (accepted) return true
  const shown = parseJson(json)
  if (movesUnpriced(shown)) return true
  const amounts = [...amountsIn(changes), ...amountsIn(shown)]
  return amounts.some((amount) => compareDecimals(amount.replace(/^-/, ''), minimum) >= 0)
}

/** Whether units move without money: their worth is unknown and may be any amount. */
function movesUnpriced(value: unknown): boolean {
  const { quantity, amount } = Object.fromEntries(entriesOf(value))
  const isMoved = quantity !== undefined && amount !== undefined && !isNothing(quantity)
  return (
    (isMoved && isNothing(amount)) || entriesOf(value).some(([, inner]) => movesUnpriced(inner))
  )
}

const isNothing = (value: unknown) => value === null || plainDecimal(value) === '0'

/** Whether a field of this name holds money. */
export const isAmount = (name: string) =>
  /amount(total)?$|^(application|redemption)?price$|^total$/i.test(name)

function* amountsIn(value: unknown): Generator<string> {
  for (const [name, inner] of entriesOf(value)) {
    // The old amount counts as well as the new one: lowering an amount may take it back.
    const told = isChange(inner) ? [inner.from, inner.to] : [inner]
    const amounts = isAmount(name) ? told.flatMap((one) => plainDecimal(one) ?? []) : []
    yield* amounts.length > 0 ? amounts : amountsIn(inner)
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return []
  return Object.entries(value)
}
