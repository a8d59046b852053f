import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { identified } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, lastThree } from '../../platform/sql/render.ts'
import { defineTable, type Row } from '../../platform/sql/rows.ts'
import { refuseTakenIDs } from '../../platform/sql/taken.ts'
import { bizEntityParameter } from '../investor/identities.ts'
import { listOf, type OwnedKind, ownerColumns } from '../investor/owned-kind.ts'
import { visibleEntity } from '../investor/scope.ts'
import {
  NestedPaymentDetail,
  PaymentDetail,
  type PaymentDetailQuery,
  paymentDetailParameter,
  paymentDetailReference,
} from './schema.ts'

const bankNumbers = {
  accountNumber: 'account_number',
  iban: 'iban',
  intermediaryBankAccountNumber: 'intermediary_bank_account_number',
}

/** The masked bank numbers for callers without PaymentDetail.Read. */
const bankMasks = Object.fromEntries(
  Object.entries(bankNumbers).map(([field, column]) => [field, lastThree(`t.${column}`)]),
)
const mayRead = ({ permissions }: Actor) => permissions.has('PaymentDetail.Read')

const owner = { externalBizEntityId: 'be.external_biz_entity_id' }
const inClear = columns(PaymentDetail, 't', owner)
const inMasks = columns(PaymentDetail, 't', { ...owner, ...bankMasks })

const table = sql`payment_detail`
const selectPaymentDetail = (where: Fragment, actor: Actor, rows = table) => sql`
  select ${mayRead(actor) ? inClear : inMasks}
  from ${rows} t join biz_entity be on be.biz_entity_id = t.biz_entity_id
  where ${where}`

const owners = ['bizEntity'] as const

export const paymentDetailKind: OwnedKind = {
  what: 'payment detail',
  table: defineTable('payment_detail', {
    key: 'payment_detail_id',
    record: NestedPaymentDetail,
    others: ownerColumns(owners),
    inOrderOf: 'external_payment_detail_id',
    refuseTaken: refuseTakenIDs('payment_detail'),
    updatedDate: true,
    keepsVersions: true,
  }),
  owners,
  reference: paymentDetailReference,
  parameter: paymentDetailParameter,
  record: PaymentDetail,
  select: selectPaymentDetail,
  settle: oneDefaultEach,
  settled: { type: 'paymentdetail.updated', resource: 'PaymentDetail' },
  masked: Object.values(bankNumbers),
}

const listInClear = listOf(paymentDetailKind.table, PaymentDetail, 'bizEntity', 'b')
const listInMasks = listOf(paymentDetailKind.table, PaymentDetail, 'bizEntity', 'b', bankMasks)
/** The payment details of the entity `b`. */
export const paymentDetailsOf = (actor: Actor) => (mayRead(actor) ? listInClear : listInMasks)

const purposes = ['is_for_deposit', 'is_for_distribution', 'is_for_redemption', 'is_for_other']

/** Keeps one default per purpose: the last record set as default replaces earlier ones. */
function oneDefaultEach(rows: Row[]): Row[] {
  const overtaken = (row: Row, place: number) =>
    rows
      .slice(place + 1)
      .some(
        (later) => later.is_default && purposes.some((purpose) => row[purpose] && later[purpose]),
      )
  return rows.map((row, place) =>
    row.is_default && overtaken(row, place) ? { ...row, is_default: false } : row,
  )
}

/** One payment detail, those of an entity, or all that the caller may see. */
const asked = (actor: Actor, query: PaymentDetailQuery) => sql`
  ${identified(paymentDetailParameter, query, 't')}
    and ${identified(bizEntityParameter, query, 'be')} and ${visibleEntity(actor, 'be')}`

/** In this order the database cursor can walk the primary key. */
const inOrder = sql`order by t.payment_detail_id`

export const selectPaymentDetails = (actor: Actor, query: PaymentDetailQuery) =>
  selectPaymentDetail(sql`${asked(actor, query)} ${inOrder}`, actor)

export const readPaymentDetails = (handle: Sql, actor: Actor, query: PaymentDetailQuery) =>
  renderPage(handle, query, {
    key: ['paymentDetailID'],
    rows: (wanted) => sql`
      select t.* from payment_detail t join biz_entity be on be.biz_entity_id = t.biz_entity_id
      where ${asked(actor, query)} ${page(wanted, 'payment_detail t', 't.payment_detail_id')}`,
    show: (rows) => selectPaymentDetail(sql`true ${inOrder}`, actor, sql`(${rows})`),
  })
