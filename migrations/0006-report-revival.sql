-- A worker may die at a report, and also on the way to it: after it took the job and before it took
-- the lease. So every report that has not ended and that nobody has cared for is looked for.
drop index report_leased;
create index report_open on report (coalesce(lease_date, created_date))
  where report_status_id in (1, 2);

-- As before, except that a job which still waits in the queue keeps its place there.
create or replace function queue_job(task text, payload json, key text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform graphile_worker.add_job(task, payload, job_key := key, max_attempts := 20,
    job_key_mode := 'preserve_run_at');
end $$;
