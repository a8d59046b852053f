-- Ranges of blocks (0078) are looked at and summed up anew where their table is: on Citus that is each
-- part of it, on its own server, which is told to by one call. A statement that no row answers tells
-- how many blocks are read in vain, and 512 are no harm: the newest ranges are summed up in their time.
-- It waits for autovacuum less than it takes to cancel it, which would leave the next such range; who
-- does not get the table has it another time. Gives how many indexes were mended.
create function mend_block_ranges(relation regclass) returns integer
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set lock_timeout = '100ms'
  set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off
  set max_parallel_workers_per_gather = 0 set jit = off as $$
declare
  index record;
  plan json;
  mended integer := 0;
begin
  for index in
    select c.oid, format('explain (analyze, format json) select 1 from %s where %s',
      relation, pg_get_indexdef(c.oid, i.indnatts, true)
        || case when a.atttypid = 'timestamptz'::regtype then ' > ''infinity''' else ' < 0' end)
      as probe,
      coalesce((select option_value::integer from pg_options_to_table(c.reloptions)
        where option_name = 'pages_per_range'), 128) as width
    from pg_index i
    join pg_class c on c.oid = i.indexrelid and i.indisvalid
    join pg_am m on m.oid = c.relam and m.amname = 'brin'
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indnatts
    where i.indrelid = relation
  loop
    for attempt in 1 .. 2 loop
      execute index.probe into plan;
      exit when (plan #>> '{0,Plan,Lossy Heap Blocks}')::bigint <= 512;
      mended := mended + 2 - attempt;
      if attempt = 1 then
        perform brin_summarize_new_values(index.oid);
      else
        for block in 0 .. pg_relation_size(relation) / current_setting('block_size')::bigint - 1
          by index.width
        loop
          perform brin_desummarize_range(index.oid, block);
          perform brin_summarize_range(index.oid, block);
        end loop;
      end if;
    end loop;
  end loop;
  return mended;
exception when lock_not_available then
  return mended;
end $$;

revoke execute on function mend_block_ranges from public;
grant execute on function mend_block_ranges to registry_service;

drop function sum_up_new_ranges;
drop function sum_up_anew;
