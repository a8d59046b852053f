import sql from 'sql-template-tag'
import type { Actor } from '../actor.ts'
import { investmentParameter } from '../investment/schema.ts'
import {
  bizEntityParameter,
  organisationParameter,
  personParameter,
} from '../investor/identities.ts'
import { visibleEntity } from '../investor/scope.ts'
import { productParameter } from '../product/schema.ts'
import { asksFor, conditions } from '../sql/filters.ts'
import type { Fragment } from '../sql/handle.ts'
import { identified, namesAny } from '../sql/identify.ts'
import { accountFilters, type BizEntityQuery, entityFilters } from './schema.ts'

/** Everything GET /BizEntity can ask for (4.3), as conditions on biz_entity b. */
export function askedFor(actor: Actor, query: BizEntityQuery): Fragment[] {
  return [
    visibleEntity(actor, 'b'),
    identified(bizEntityParameter, query, 'b'),
    conditions(entityFilters, query),
    ...(namesAny(productParameter, query) ? [ofProduct(query)] : []),
    ...(namesAny(investmentParameter, query) ? [invested(query)] : []),
    ...(namesAny(personParameter, query) ? [withPerson(query)] : []),
    ...(namesAny(organisationParameter, query) ? [withOrganisation(query)] : []),
    ...(asksFor(accountFilters, query) ? [withAccount(query)] : []),
  ]
}

const ofProduct = (query: BizEntityQuery) => sql`
  b.product_id = (select p.product_id from product p where ${identified(productParameter, query, 'p')})`

/** A holding is there for each account and investment that ever had a transaction. */
const invested = (query: BizEntityQuery) => sql`
  b.biz_entity_id in (
    select a.biz_entity_id
    from investment i
    join holding h on h.product_id = i.product_id and h.investment_id = i.investment_id
    join account a on a.product_id = h.product_id and a.account_id = h.account_id
    where ${identified(investmentParameter, query, 'i')})`

const withPerson = (query: BizEntityQuery) => sql`
  b.biz_entity_id in (
    select s.biz_entity_id from person p join person_shown s on s.person_id = p.person_id
    where ${identified(personParameter, query, 'p')})`

const withOrganisation = (query: BizEntityQuery) => sql`
  b.biz_entity_id in (
    select y.biz_entity_id from organisation o
    join biz_entity_party y on y.organisation_id = o.organisation_id
    where ${identified(organisationParameter, query, 'o')})`

const withAccount = (query: BizEntityQuery) => sql`
  b.biz_entity_id in (
    select a.biz_entity_id from account a where ${conditions(accountFilters, query)})`
