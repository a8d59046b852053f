import sql, { join, raw } from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import { investmentParameter } from '../../catalogue/investment/schema.ts'
import { productParameter } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import { accountParameter } from '../../parties/account/reference.ts'
import { type Actor, inLedgerScope, inScope } from '../../platform/actor.ts'
import { knownAt, paging } from '../../platform/http/paging.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import {
  DateOnly,
  DateTime,
  decimal,
  ExternalId,
  Id,
  LongId,
  optional,
  shown,
} from '../../platform/shape/fields.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { identify, namesAny } from '../../platform/sql/identify.ts'
import { pageBy, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { ofKind } from '../biz-transaction/kinds.ts'

const figure = (description: string) => decimal({}, { description })

/** A transaction of a holding, with its effect on the holding's units, cost and gain. */
export const PositionStep = shown(
  'PositionStep',
  {
    bizTransactionID: LongId,
    externalBizTransactionId: ExternalId,
    bizTransactionTypeID: Id,
    typeName: Type.String(),
    movementReasonCode: Type.String(),
    transactionDate: DateOnly,
    investmentPrice: decimal(),
    amount: decimal(),
    quantityChange: figure('The change in units.'),
    costChange: figure('The change in cost.'),
    gainChange: figure('The gain that was realised.'),
    closingQuantity: figure('The units of the position after the transaction.'),
    closingCost: figure('The cost of the position after the transaction.'),
    closingGain: figure('The total gain realised up to and including the transaction.'),
    comment: Type.String(),
    createdDate: DateTime,
  },
  {
    bizTransactionID: 12,
    externalBizTransactionId: null,
    bizTransactionTypeID: lookups.BizTransactionType.Redemption,
    typeName: 'Redemption',
    movementReasonCode: 'RED',
    transactionDate: '2026-01-31',
    investmentPrice: 1.5,
    amount: -150,
    quantityChange: -100,
    costChange: -125,
    gainChange: 25,
    closingQuantity: 900,
    closingCost: 1125,
    closingGain: 25,
    comment: null,
    createdDate: '2026-01-31T00:00:00Z',
  },
)

export const ExplainQuery = Type.Object({
  ProductID: optional(Id),
  ExternalProductId: optional(ExternalId),
  AccountID: optional(Id),
  ExternalAccountId: optional(ExternalId),
  InvestmentID: optional(Id),
  ExternalInvestmentId: optional(ExternalId),
  SecurityCode: optional(Type.String({ minLength: 1, maxLength: 50 })),
  Date: optional(DateOnly),
  ...knownAt,
  ...paging,
})
export type ExplainQuery = Static<typeof ExplainQuery>

const stepColumns = columns(PositionStep, 't', {
  typeName: ofKind('t.biz_transaction_type_id', ({ name }) => name),
  movementReasonCode: ofKind('t.biz_transaction_type_id', ({ code }) => code),
  quantityChange: 't.closing_quantity - coalesce(s.quantity, 0)',
  costChange: 't.closing_cost - coalesce(s.cost, 0)',
  gainChange: 't.closing_gain - coalesce(s.gain, 0)',
})

/** Lists the transactions of one holding in ledger order, with the change that each one made. */
export async function explainPosition(handle: Sql, actor: Actor, query: ExplainQuery) {
  const { accountID, investmentID } = await findPosition(handle, actor, query)
  const asked = [
    sql`t.account_id = ${accountID}`,
    sql`t.investment_id = ${investmentID}`,
    sql`t.transaction_date <= coalesce(${query.Date ?? null}::date, (
      select ${today('p')} from product p where p.product_id = t.product_id))`,
    raw(counts('t')),
  ]
  return renderPage(handle, query, {
    key: ['transactionDate', 'bizTransactionID'],
    scope: {
      within: inLedgerScope(actor, 't.product_id'),
      products: sql`select product_id from account where account_id = ${accountID}`,
      isOf: (productID) => sql`t.product_id = ${productID}`,
    },
    rows: (wanted, within) => sql`
      select t.* from transaction_line t where ${join([within, ...asked], ' and ')}
      ${pageBy(
        wanted,
        't.transaction_date, t.biz_transaction_id',
        '(select max(biz_transaction_id) from biz_transaction)',
      )}`,
    show: (rows) => sql`
      select ${stepColumns} from (${rows}) t
      left join lateral (
        select b.closing_quantity as quantity, b.closing_cost as cost, b.closing_gain as gain
        from transaction_line b
        where b.product_id = t.product_id and b.account_id = t.account_id
          and b.investment_id = t.investment_id and ${raw(counts('b'))}
          and (b.transaction_date, b.biz_transaction_id)
            < (t.transaction_date, t.biz_transaction_id)
        order by b.transaction_date desc, b.biz_transaction_id desc limit 1) s on true
      order by t.transaction_date, t.biz_transaction_id`,
  })
}

async function findPosition(handle: Sql, actor: Actor, query: ExplainQuery) {
  const productID = namesAny(productParameter, query)
    ? await identifyProduct(handle, actor, query, productParameter)
    : undefined
  const within = { visible: inScope(actor, 'r.product_id'), productIDs: [productID] }
  return {
    accountID: await identify(handle, accountParameter, query, within),
    investmentID: await identify(handle, investmentParameter, query, within),
  }
}
