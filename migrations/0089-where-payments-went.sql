-- The payment by which a returned payment went out again. Several may go out as one, of which
-- reissue_of names the first only; so those of one account in one run could be taken for another.
alter table payment add column reissued_as bigint;
update payment p set reissued_as = f.payment_id
from (
  select p.product_id, p.payment_id as before, coalesce(
    min(n.payment_id) filter (where n.reissue_of = p.payment_id),
    min(n.payment_id) filter (where m.came_from_payment_id is not null),
    min(n.payment_id)) as payment_id
  from payment p
  join payment_run r on r.product_id = p.product_id and r.reissue_of = p.payment_run_id
  join payment n on n.product_id = p.product_id and n.account_id = p.account_id
    and n.payment_run_id = r.payment_run_id
  left join payment_item m on m.product_id = p.product_id and m.payment_id = n.payment_id
    and m.came_from_payment_id = p.payment_id
  where p.state = 'Reissued'
  group by p.product_id, p.payment_id) f
where f.product_id = p.product_id and f.before = p.payment_id;
