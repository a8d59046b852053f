  select coalesce(json_agg(r), '[]')::text as json_bytes,
    count(*)::int as count, json_build_array(max(r."auditID")) as last
  from (
    select a.audit_id as "auditID",
  to_char(a.occurred_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "occurredDate",
  a.user_id as "userID",
  a.username as "username",
  a.operation as "operation",
  a.resource as "resource",
  a.product_id as "productID",
  n.changes as "changes",
  a.request_id as "requestID",
  to_json(n.ids) as "resourceIDs"
    from audit a cross join lateral (
select a.changes, coalesce(a.resource_ids, array_remove(array[a.resource_id], null)) as ids) n
    where true and true and a.resource = any($1::text[])
  and ($2::bigint = 0 or $3::bigint < (select max(a.audit_id) from audit a))
  order by a.audit_id limit $4 offset $5::bigint) r;
