/** The entity with what belongs to it, as seven sub-selects. */
export const entitySQL = (condition) => `
    select b.*,
      (select json_agg(a) from account a where a.biz_entity_id = b.biz_entity_id) as accounts,
      (select json_agg(d) from address d where d.biz_entity_id = b.biz_entity_id) as addresses,
      (select json_agg(c) from communication c where c.biz_entity_id = b.biz_entity_id)
        as communications,
      (select json_agg(y) from payment_detail y where y.biz_entity_id = b.biz_entity_id)
        as payment_details,
      (select json_agg(t) from biz_entity_party t where t.biz_entity_id = b.biz_entity_id)
        as parties,
      (select json_agg(p) from biz_entity_party t join person p on p.person_id = t.person_id
        where t.biz_entity_id = b.biz_entity_id) as persons,
      (select sum(h.quantity) from account a join holding h
          on h.product_id = a.product_id and h.account_id = a.account_id
        where a.biz_entity_id = b.biz_entity_id) as balance
    from biz_entity b where ${condition}`
