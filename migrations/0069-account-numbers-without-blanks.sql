-- Account numbers from before they were trimmed may have blanks around them, and who asks for one
-- does not find it. They lose them, and the past keeps them as they were. Where another account of
-- the product has the same number but for blanks, or one that is gone had it, all stay as they
-- are: whose the number is, only a person can tell.
insert into record_version (table_name, record_id, valid_to, image)
select 'account', a.account_id, m.moment, to_jsonb(a)
from account a cross join (select clock_timestamp() as moment) m
where a.account_id in (
  select t.account_id
  from (
    select o.account_id, o.product_id, o.account_number, b.number,
      count(*) over (partition by o.product_id, b.number) as accounts
    from account o cross join lateral (
      select btrim(o.account_number, E' \t\n\x0b\f\r\u00a0\u3000\ufeff') as number) b) t
  where t.account_number <> t.number and t.number <> '' and t.accounts = 1
    and not exists (
      select 1 from retired_account_number r
      where r.product_id = t.product_id and r.account_number = t.number));

update account a set account_number = t.number
from (
  select o.account_id, o.product_id, o.account_number, b.number,
    count(*) over (partition by o.product_id, b.number) as accounts
  from account o cross join lateral (
    select btrim(o.account_number, E' \t\n\x0b\f\r\u00a0\u3000\ufeff') as number) b) t
where t.account_id = a.account_id
  and t.account_number <> t.number and t.number <> '' and t.accounts = 1
  and not exists (
    select 1 from retired_account_number r
    where r.product_id = t.product_id and r.account_number = t.number);
