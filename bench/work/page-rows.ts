import { entitySQL } from '../bare-sql.mjs'
import { load, psql } from '../load.ts'
import { atLeast, atMost, inTurns, result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'

/** The median milliseconds of a read over one connection. */
const oneByOne = (service: Service, path: string) =>
  load(service, { method: 'GET', path }, { size: 1, connections: 1, seconds: 2 }).p50

const minimalEntities = `
  select json_agg(r)::text from (${entitySQL('b.biz_entity_id > 2000')}
    order by b.biz_entity_id limit 1000) r`

const minimalHoldings = `
  select json_agg(r)::text from (
    select h.*, a.account_number, a.external_account_id, e.name, e.external_biz_entity_id,
      i.name as investment_name, i.security_code, v.price, round(h.quantity * v.price, 2) as value
    from (select * from holding where product_id = 1 and quantity > 0
      order by account_id, investment_id limit 1000) h
    join account a on a.account_id = h.account_id
    join biz_entity e on e.biz_entity_id = a.biz_entity_id
    join investment i on i.investment_id = h.investment_id
    left join lateral (select price from investment_price p
      where p.investment_id = h.investment_id and p.price_date <= current_date
      order by p.price_date desc limit 1) v on true) r`

type Page = { number: string; work: string; path: string; minimal: string }

const pageAgainst = ({ path, minimal, ...what }: Page): Workload => {
  return async ({ service, rounds }) => {
    const { subject, against } = await inTurns(
      rounds,
      () => oneByOne(service, path),
      () => psql(service.connection, minimal, 7),
    )
    const told = { ...what, baseline: 'minimal SQL by psql, as pages a second', unit: 'a second' }
    return [result(told, { subject: 1000 / subject, against: 1000 / against }, atLeast(0.8))]
  }
}

/** The cursor that a list in ascending order returns with a page that ends with this id. */
const cursorBehind = (key: string, id: number) =>
  Buffer.from(JSON.stringify({ key: [key], after: [id], order: 'asc' })).toString('base64url')

/** Read by a cursor, like the minimal SQL: a page by number passes over all rows before it. */
export const minimalEntityPage = pageAgainst({
  number: 'S6a',
  work: 'a page of 1000 entities',
  path: `/BizEntity?PageSize=1000&Cursor=${cursorBehind('bizEntityID', 2000)}`,
  minimal: minimalEntities,
})
export const minimalHoldingPage = pageAgainst({
  number: 'S6b',
  work: 'a page of 1000 holdings',
  path: '/BizEntity/Account/Holdings?ProductID=1&PageSize=1000',
  minimal: minimalHoldings,
})

/** S8: a page near the end, by the cursor of the page before it, as in a walk through the list. */
export const deepPage: Workload = async ({ service, size, rounds }) => {
  const last = size.entities * size.transactionsPerEntity
  const pageSize = last / 10_000
  const cursor = cursorBehind('bizTransactionID', last - pageSize)
  const list = `/BizTransaction?ProductID=1&PageSize=${pageSize}`
  const figures = await inTurns(
    rounds,
    () => oneByOne(service, `${list}&Cursor=${cursor}`),
    () => oneByOne(service, list),
  )
  const what = {
    number: 'S8',
    work: `page 10,000 of transactions by cursor, ${pageSize} a page`,
    baseline: 'page 1',
    unit: 'ms',
  }
  return [result(what, figures, atMost(1.2))]
}
