-- Whoever breaks off while PostgreSQL sums up a range of blocks (a lock that cancels autovacuum, a
-- crash) leaves a range that is summed up by nobody ever after; and a reader takes every range behind
-- it for one that has to be read. So ranges are summed up anew (platform/sql/block-ranges.ts), which
-- only the owner of an index may do.
create function sum_up_new_ranges(index regclass) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  select brin_summarize_new_values(index) $$;

-- So many ranges from a block on; gives the block to go on with, null at the end of the table.
create function sum_up_anew(index regclass, first bigint, ranges integer) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  blocks bigint := (
    select pg_relation_size(indrelid) / current_setting('block_size')::bigint
    from pg_index where indexrelid = index);
  width bigint := coalesce((
    select option_value::bigint
    from pg_class c, pg_options_to_table(c.reloptions)
    where c.oid = index and option_name = 'pages_per_range'), 128);
  after bigint := least(first + ranges * width, blocks);
begin
  for block in first .. after - 1 by width loop
    perform brin_desummarize_range(index, block);
    perform brin_summarize_range(index, block);
  end loop;
  return case when after < blocks then after end;
end $$;

revoke execute on function sum_up_new_ranges, sum_up_anew from public;
grant execute on function sum_up_new_ranges, sum_up_anew to registry_service;
