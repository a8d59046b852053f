  select to_json(r) as json_records from (
    select a.audit_id + a.place - 1 as "auditID",
  to_char(a.occurred_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "occurredDate",
  a.user_id as "userID",
  a.username as "username",
  a.operation as "operation",
  a.resource as "resource",
  a.product_id as "productID",
  case when a.request_ids is not null then a.changes -> (a.place - 1) else n.changes end as "changes",
  coalesce(a.request_ids[a.place], a.request_id) as "requestID",
  to_json(case when a.request_ids is not null then array[a.record_ids[a.place]] else n.ids end) as "resourceIDs"
    from (
select a.* from (
  select a.*, n.place from (select a.* from audit a where true and true and a.resource = any($1::text[]) order by a.audit_id limit $2::bigint) a
  cross join lateral generate_series(1, coalesce(cardinality(a.request_ids), 1)) n (place)) a
where true
   and ($3::bigint = 0
    or $4::bigint < (select max(audit_id) + $5 from audit))
  order by a.audit_id, a.place limit $6 offset $7::bigint) a
    cross join lateral (
select a.changes, coalesce(a.resource_ids, array_remove(array[a.resource_id], null)) as ids) n
    order by a.audit_id, a.place) r;
