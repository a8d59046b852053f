-- When somebody last backed up and verified: asked for by every scrape of /metrics, so that it must
-- not walk the trail.
create index audit_upkeep on audit (operation, occurred_date)
  where operation in ('cli backup', 'cli verify');
