-- A seal holds the records that it is of: their ids in the order of the chain, and of the hash of
-- each place the first eight bytes, by which the first record that is not as it was is named. The
-- hash of the seal, which is signed, is over all of them. A row and two entries of indexes for each
-- record were 136 bytes; this is about 16.
alter table audit_seal add column xid xid8; -- of its last record
alter table audit_seal add column audit_ids bigint[];
alter table audit_seal add column marks bytea;
alter table audit_seal alter column marks set storage external; -- hashes cannot be made shorter

update audit_seal s set xid = l.xid, audit_ids = l.audit_ids, marks = l.marks
from (select position, lag(position, 1, 0::bigint) over (order by position) as before
  from audit_seal) b
cross join lateral (
  -- Of a trail that somebody has bent there may be none: that is verify's to say.
  select coalesce((array_agg(xid order by position desc))[1], '0') as xid,
    coalesce(array_agg(audit_id order by position), '{}') as audit_ids,
    coalesce(string_agg(substring(hash for 8), ''::bytea order by position), '') as marks
  from audit_link where position > b.before and position <= b.position) l
where s.position = b.position;

alter table audit_seal alter column xid set not null;
alter table audit_seal alter column audit_ids set not null;
alter table audit_seal alter column marks set not null;
drop table audit_link;
