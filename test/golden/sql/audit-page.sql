  select coalesce(json_agg(r), '[]')::text as json_bytes,
    count(*)::int as count, json_build_array(max(r."auditID")) as last
  from (
    select a.audit_id + n.place as "auditID",
  to_char(a.occurred_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "occurredDate",
  a.user_id as "userID",
  a.username as "username",
  a.operation as "operation",
  a.resource as "resource",
  a.product_id as "productID",
  n.changes as "changes",
  n.request_id as "requestID",
  to_json(n.ids) as "resourceIDs"
    from (select a.* from audit a where true and true and a.resource = any($1::text[]) order by a.audit_id limit $2::bigint) a
    cross join lateral (
select 0 as place, w.changes, w.ids, a.request_id from (
select a.changes, coalesce(a.resource_ids, array_remove(array[a.resource_id], null)) as ids) w
where a.request_ids is null
union all
select r.place - 1, r.changes, array[r.id], r.request_id
from rows from (unnest(a.request_ids), unnest(a.record_ids),
  json_array_elements(case when a.request_ids is not null then a.changes end))
  with ordinality as r (request_id, id, changes, place)
where a.request_ids is not null) n
    where true
  and ($3::bigint = 0 or $4::bigint < (select max(audit_id) + 32 from audit))
  order by a.audit_id + n.place limit $5 offset $6::bigint) r;
