-- A server whose scans by bitmap are switched off told no number of blocks (0079), which was taken for
-- too many: every range was summed up anew, each minute.
alter function mend_block_ranges(regclass) set enable_bitmapscan = on;
