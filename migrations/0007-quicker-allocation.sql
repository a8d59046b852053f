-- As before, with the smallest unit written out: to raise ten to a power took longer than to share
-- an amount, and a declaration shares one for each of a million accounts.
create or replace function allocate(amount numeric, percentages numeric[], decimals integer)
returns numeric[] language plpgsql immutable parallel safe as $$
declare
  parts numeric[] := percentages;
  remainders numeric[] := percentages;
  exact numeric;
  part numeric;
  left_over numeric := amount;
  unit numeric;
  largest integer;
begin
  if cardinality(percentages) = 1 then return array[amount]; end if;
  for i in 1 .. cardinality(percentages) loop
    exact := amount * percentages[i] * 0.01; -- a division would be rounded
    part := trunc(exact, decimals);
    parts[i] := part;
    remainders[i] := exact - part;
    left_over := left_over - part;
  end loop;
  if left_over = 0 then return parts; end if;
  unit := case decimals when 2 then 0.01 when 0 then 1
    else round(power(10::numeric, -decimals), decimals) end;
  while left_over > 0 loop
    largest := 1;
    for i in 2 .. cardinality(remainders) loop
      if remainders[i] > remainders[largest] then largest := i; end if;
    end loop;
    parts[largest] := parts[largest] + unit;
    remainders[largest] := -1;
    left_over := left_over - unit;
  end loop;
  return parts;
end $$;
