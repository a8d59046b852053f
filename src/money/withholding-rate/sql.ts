import sql, { join } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { conflict, forbidden, invalid, notFound } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import { defineTable, lockRow, put, type Row, rowFrom } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import {
  rateFilters,
  WithholdingRate,
  type WithholdingRateInput,
  type WithholdingRateKey,
  type WithholdingRateQuery,
  WithholdingRateRecord,
  type WithholdingRateUpdate,
} from './schema.ts'

const rateTable = defineTable('withholding_rate', {
  key: 'rate_id',
  record: WithholdingRateRecord,
})
const rateColumns = columns(WithholdingRate, 'r')
const rateByID = (id: number) =>
  sql`select ${rateColumns} from withholding_rate r where r.rate_id = ${id}`

export const readRates = (handle: Sql, query: WithholdingRateQuery) => {
  const { RateID } = query
  const asked = [
    conditions(rateFilters, query),
    ...(RateID === undefined ? [] : [sql`r.rate_id = ${RateID}`]),
  ]
  return renderPage(handle, query, {
    key: ['rateID'],
    rows: (wanted) => sql`
      select ${rateColumns} from withholding_rate r
      where ${join(asked, ' and ')} ${page(wanted, 'withholding_rate r', 'r.rate_id')}`,
  })
}

export async function createRate(
  tx: Tx,
  actor: Actor,
  input: WithholdingRateInput,
): Promise<Written> {
  await lockTable(tx, actor)
  const row = rowFrom(rateTable, input)
  await refuseOverlap(tx, row)
  const id = await put(tx, rateTable, undefined, row)
  return { ...(await render(tx, rateByID(id))), ids: [id], changes: input }
}

export async function updateRate(
  tx: Tx,
  actor: Actor,
  input: WithholdingRateUpdate,
): Promise<Written> {
  await lockTable(tx, actor)
  const stored = await lockRow(tx, rateTable, input.rateID)
  if (!stored) throw noRate('rateID')
  const row = rowFrom(rateTable, input, {}, stored)
  refuseEndBeforeBegin(row)
  await refuseOverlap(tx, row)
  const before = await render(tx, rateByID(input.rateID))
  await put(tx, rateTable, stored, row)
  const after = await render(tx, rateByID(input.rateID))
  const changes = changesBetween(WithholdingRate, before.json, after.json)
  return { ...after, ids: [input.rateID], changes, before: before.json }
}

/** Tax that was withheld by the rate keeps its figures: nothing refers to the rate. */
export async function deleteRate(
  tx: Tx,
  actor: Actor,
  { RateID: id }: WithholdingRateKey,
): Promise<Written> {
  await lockTable(tx, actor)
  const { json: before, recordCount } = await render(tx, rateByID(id))
  if (recordCount === 0) throw noRate('RateID')
  await tx.query(sql`delete from withholding_rate where rate_id = ${id}`)
  return { ...nothingLeft, ids: [id], changes: { deleted: recordOf(before) }, before }
}

const noRate = (field: string) => notFound('not_found', 'There is no such rate.', field)

/**
 * Only users with access to all products may change rates, which hold for every product. The lock
 * makes writers come one after another, since no two rates may overlap.
 */
async function lockTable(tx: Tx, { productIDs }: Actor) {
  if (productIDs !== null)
    throw forbidden('scope', 'Only a user with access to all products can change tax rates.')
  await tx.query(sql`lock table withholding_rate in share row exclusive mode`)
}

/** An end left out of an update stays, and may lie before a new start. Dates compare as texts. */
function refuseEndBeforeBegin({ valid_from: from, valid_to: to }: Row) {
  if (from !== null && to !== null && to! < from!)
    throw invalid('invalid_value', `The rate ends on ${to}, before validFrom.`, 'validTo')
}

async function refuseOverlap(tx: Tx, row: Row) {
  const [other] = await tx.query<{ id: number; from: string; to: string | null }>(sql`
    select r.rate_id as id, r.valid_from::text as from, r.valid_to::text as to
    from withholding_rate r
    where r.rule = ${row.rule} and r.income_kind = ${row.income_kind}
      and r.country_code is not distinct from ${row.country_code}::text
      and r.rate_id is distinct from ${row.rate_id}::int
      and r.valid_from <= coalesce(${row.valid_to}::date, 'infinity')
      and coalesce(r.valid_to, 'infinity') >= ${row.valid_from}::date
    order by r.valid_from limit 1`)
  if (other)
    throw conflict(
      'overlap',
      `Rate ${other.id} for the same holds from ${other.from}` +
        `${other.to === null ? ' on' : ` to ${other.to}`}; end it first (validTo).`,
      'validFrom',
    )
}
