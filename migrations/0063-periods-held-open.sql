-- How far a product is locked, for a statement that posts at once: read after the period is held
-- open (catalogue/product/period.ts), by a snapshot newer than the statement's own, since whoever
-- locked it may have come to their end in between. While somebody locks it, nothing is open.
create function period_lock(product integer) returns date language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock_shared(7216, product) then
    return 'infinity';
  end if;
  return (select p.locked_date from product p where p.product_id = product);
end $$;
