import sql, { raw } from 'sql-template-tag'
import { investmentParameter } from '../../catalogue/investment/schema.ts'
import { productParameter } from '../../catalogue/product/schema.ts'
import { counts } from '../../platform/lookup/counts.ts'
import type { Relation } from '../../platform/sql/by-others.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { identified, namesAny } from '../../platform/sql/identify.ts'
import {
  bizEntityParameter,
  organisationParameter,
  personParameter,
} from '../investor/identities.ts'
import { accountFilters, type BizEntityQuery, entityFilters } from './schema.ts'

/** The filters of GET /BizEntity (4.3), except accounts, as conditions on biz_entity b. */
export function askedFor(query: BizEntityQuery): Fragment[] {
  return [
    identified(bizEntityParameter, query, 'b'),
    conditions(entityFilters, query),
    ...(namesAny(productParameter, query) ? [ofProduct(query)] : []),
    ...(namesAny(investmentParameter, query) ? [invested(query)] : []),
    ...(namesAny(personParameter, query) ? [withPerson(query)] : []),
    ...(namesAny(organisationParameter, query) ? [withOrganisation(query)] : []),
  ]
}

/** The filters of GET /BizEntity by an account of the entity. */
export const itsAccounts: Relation = {
  filters: accountFilters,
  key: 'b.biz_entity_id',
  named: 'a.biz_entity_id',
  from: 'account a',
}

// The named record is looked up in a subquery, so that PostgreSQL does it once and first.

const ofProduct = (query: BizEntityQuery) => sql`
  b.product_id = (
    select p.product_id from product p where ${identified(productParameter, query, 'p')})`

/**
 * A holding exists even if all its transactions were rolled back, so at least one transaction must
 * count. A native id is passed as a value, so that the planner can choose: for popular investments
 * it reads the entities in order, for rare ones the holdings. The first condition answers at once
 * for an investment without holdings.
 */
const invested = (query: BizEntityQuery) => {
  const investment = identified(investmentParameter, query, 'i')
  const named = query.InvestmentID
    ? sql`h.investment_id = ${query.InvestmentID}
        and h.product_id = (select i.product_id from investment i where ${investment})`
    : sql`(h.product_id, h.investment_id) in (
        select i.product_id, i.investment_id from investment i where ${investment})`
  return sql`
    exists (select 1 from holding h where ${named} limit 1)
    and b.biz_entity_id in (
      select a.biz_entity_id
      from holding h join account a on a.product_id = h.product_id and a.account_id = h.account_id
      where ${named} and exists (
        select 1 from biz_transaction t
        where t.product_id = h.product_id and t.account_id = h.account_id
          and t.investment_id = h.investment_id
          and ${raw(counts('t'))}))`
}

const withPerson = (query: BizEntityQuery) => sql`
  b.biz_entity_id in (
    select s.biz_entity_id from person_shown s
    where s.person_id = (
      select p.person_id from person p where ${identified(personParameter, query, 'p')}))`

const withOrganisation = (query: BizEntityQuery) => sql`
  b.biz_entity_id in (
    select y.biz_entity_id from biz_entity_party y
    where y.organisation_id = (
      select o.organisation_id from organisation o
      where ${identified(organisationParameter, query, 'o')}))`
