import { type TProperties, type TSchema, Type } from 'typebox'
import type { WrittenElsewhere } from '../../access/approval/elsewhere.ts'
import { createPrices } from '../../catalogue/investment/price.ts'
import { PriceInput } from '../../catalogue/investment/schema.ts'
import type { Body } from '../../ledger/biz-transaction/legs.ts'
import { RunKey, RunResult } from '../../money/payment-run/schema.ts'
import { recordResults } from '../../money/payment-run/steps.ts'
import { listsInTurn, otherNames } from '../../parties/biz-entity/names.ts'
import { addEntities } from '../../parties/biz-entity/save.ts'
import { BizEntityInput } from '../../parties/biz-entity/schema.ts'
import type { Vault } from '../../parties/sealed/vault.ts'
import type { Actor } from '../../platform/actor.ts'
import type { Permission, Resource } from '../../platform/permission.ts'
import { permissionMissingToo, Refusal } from '../../platform/refusal.ts'
import { bodyReader, type ReadBody } from '../../platform/shape/input.ts'
import { itemOf } from '../../platform/shape/path.ts'
import type { Item, Perform } from './item.ts'
import { openBalances, postingShapes, postRows, wholeName } from './postings.ts'
import type { ImportType } from './schema.ts'
import { type Touches, touchesOf, touchesOfEntities } from './touches.ts'

/**
 * A type of rows. Rows are bodies of API operations and are done by the same functions as those
 * operations, so this file has no rules about rows.
 */
export type Kind = {
  /** The permission that the API operations need. */
  needs: Permission
  /** The API operations that do the same as the rows. */
  requests: readonly string[]
  /** The resources that rows are written to. */
  writes: readonly Resource[]
  /** Rows may hold tax and bank numbers, which answers show to nobody or not to everybody. */
  isConfidential?: true
  /** The fields that may be columns. */
  fields: TSchema
  /** The operations that a row may choose from, if there are several. */
  operations?: readonly string[]
  /** Reads a body by the rules of its operation, or refuses it with all its problems. */
  read: (operation: string, body: unknown) => ReadBody
  /** The number of rows in one step. */
  atOnce: number
  /** The accounts and names that items concern. Steps without any in common may run at once. */
  touches?: (items: readonly Item[]) => Touches | undefined
  /** Rows go into tables that Citus copies to all nodes, where a step locks out other writers. */
  writesCopies?: true
  perform: (vault: Vault) => Perform
}

const readerOf = (schema: TSchema) => {
  const read = bodyReader(schema)
  return (_operation: string, body: unknown) => read(body)
}

const postingReaders = new Map(
  Object.entries(postingShapes).map(([operation, schema]) => [operation, bodyReader(schema)]),
)

/** All fields of several bodies together. */
const allFields = (schemas: readonly { properties: TProperties }[]) =>
  Object.assign({}, ...schemas.map(({ properties }) => properties)) as TProperties

/** A payment's result, with the run that it belongs to. */
const PaymentResult = Type.Object({
  ...RunKey.properties,
  ...RunResult.properties.payments.items.properties,
})

const [newEntity, newPrice, newResult] = [
  'POST /BizEntity',
  'POST /Investment/Price',
  'POST /PaymentRun/Result',
] as const

const touchesOfPostings = (items: readonly Item[]) =>
  touchesOf(items.map(({ body }) => body as Body))

export const kinds: Record<ImportType, Kind> = {
  Investors: {
    needs: 'BizEntity.Write',
    requests: [newEntity],
    writes: ['BizEntity', 'Person', 'Address', 'Communication', 'PaymentDetail', 'Organisation'],
    isConfidential: true,
    fields: BizEntityInput,
    read: readerOf(BizEntityInput),
    atOnce: 500,
    touches: (items) => touchesOfEntities(items.map(({ body }) => body as BizEntityInput)),
    writesCopies: true,
    perform: addInvestors,
  },
  Prices: {
    needs: 'Investment.Write',
    requests: [newPrice],
    writes: ['Investment'],
    fields: PriceInput,
    read: readerOf(PriceInput),
    atOnce: 1000,
    perform: () => (actor, items) => async (tx) => {
      const bodies = items.map(({ body }) => body as PriceInput)
      const result = await createPrices(tx, actor, bodies, at)
      const event = 'investmentprice.created' as const
      const part = { operation: newPrice, resource: 'Investment', event, result }
      return { parts: [part], refused: new Map() }
    },
  },
  Transactions: {
    needs: 'BizTransaction.Write',
    requests: Object.keys(postingShapes).map(wholeName),
    writes: ['BizTransaction'],
    fields: Type.Object({ operation: Type.String(), ...allFields(Object.values(postingShapes)) }),
    operations: Object.keys(postingShapes),
    // The reader has checked that the operation is one of those above.
    read: (operation, body) => postingReaders.get(operation)!(body),
    atOnce: 1000,
    touches: touchesOfPostings,
    perform: () => postRows,
  },
  OpeningBalances: {
    needs: 'BizTransaction.Write',
    requests: [wholeName('Allotment')],
    writes: ['BizTransaction'],
    fields: postingShapes.Allotment,
    read: readerOf(postingShapes.Allotment),
    atOnce: 1000,
    touches: touchesOfPostings,
    perform: () => openBalances,
  },
  PaymentResults: {
    needs: 'PaymentRun.Write',
    requests: [newResult],
    writes: ['PaymentRun'],
    fields: PaymentResult,
    read: readerOf(PaymentResult),
    atOnce: 1000,
    perform: () => tellResults,
  },
}

const at = (i: number) => itemOf('', i)

/** Adds investors with the same result as one request per row: see listsInTurn. */
function addInvestors(vault: Vault): Perform {
  return (actor, items) => {
    const entities = items.map(({ body }) => body as BizEntityInput)
    const others = otherNames(entities)
    const prepared = others ? undefined : listsInTurn(entities)
    return async (tx) => {
      const lists = prepared ?? listsInTurn(entities, await others?.(tx))
      const parts = []
      let before = 0
      for (const list of lists) {
        const from = before
        const result = await addEntities(tx, actor, vault, list, (i) => at(from + i))
        const event = 'bizentity.created' as const
        parts.push({ operation: newEntity, resource: 'BizEntity', event, result })
        before += list.length
      }
      return { parts, refused: new Map() }
    }
  }
}

type Result = RunResult['payments'][number] & { paymentRunID: number }

/** Records the results of each payment run together, because the last result closes the run. */
const tellResults: Perform = (actor, items) => async (tx) => {
  const runs = new Map<number, number[]>()
  for (const [i, { body }] of items.entries()) {
    const { paymentRunID } = body as Result
    runs.set(paymentRunID, [...(runs.get(paymentRunID) ?? []), i])
  }
  const parts = []
  for (const [paymentRunID, places] of [...runs].sort(([one], [other]) => one - other)) {
    const payments = places.map((i) => resultOf(items[i]!)) // `i` is an index of `items`
    const result = await recordResults(tx, actor, { paymentRunID, payments }).catch((error) => {
      throw error instanceof Refusal ? amongItems(error, items, places) : error
    })
    const event = 'paymentrun.updated' as const
    parts.push({ operation: newResult, resource: 'PaymentRun', event, result })
  }
  return { parts, refused: new Map() }
}

function resultOf({ body }: Item) {
  const { paymentRunID: _run, ...payment } = body as Result
  return payment
}

/** Maps the problems of a payment run to rows; those of the run itself concern all its rows. */
function amongItems(
  { status, problems }: Refusal,
  items: readonly Item[],
  places: readonly number[],
) {
  const placed = (place: string) => places[Number(place)] ?? 0
  const inLines = (message: string) =>
    message.replaceAll(/payments\[(\d+)\](\.(?=\w))?/g, (_, place, dot) =>
      dot ? '' : `line ${items[placed(place)]?.line}`,
    )
  const named = problems.flatMap((problem) => {
    const [whole, place = ''] = /^payments\[(\d+)\]\.?/.exec(problem.field ?? '') ?? []
    if (whole === undefined)
      return places.map((item) => ({ ...problem, field: `${at(item)}.paymentRunID` }))
    const field = `${at(placed(place))}.${(problem.field ?? '').slice(whole.length)}`
    return [{ ...problem, field, message: inLines(problem.message) }]
  })
  return new Refusal(status, named)
}

/** What rows of a type write, for the rules of approval that may apply to it. */
export const writtenBy = (
  type: ImportType,
  productIDs: readonly number[] | null,
): WrittenElsewhere => ({
  operations: kinds[type].requests,
  resources: kinds[type].writes,
  productIDs,
})

/** Refuses callers who could not do each row by itself, also for imports of other users. */
export function refuseUnpermitted({ permissions }: Actor, { type }: { type: ImportType }) {
  const { needs } = kinds[type]
  if (!permissions.has(needs)) throw permissionMissingToo(needs)
}
