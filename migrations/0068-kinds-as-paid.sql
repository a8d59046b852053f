-- What each tax component was for tax, and the company tax that franked ones carried, when a
-- distribution was paid: the product may say otherwise since, and a year that was told stays as it
-- was. A kind that nobody had told is null. What was paid before this has what is said now.
alter table distribution
  add column paid_income_kinds text[],
  add column paid_company_tax  numeric;

update distribution d set paid_income_kinds = k.kinds, paid_company_tax = k.company_tax
from (
  select c.product_id, c.corporate_action_id,
    array_agg(coalesce((
        select e ->> 'incomeKind' from json_array_elements(p.tax_component_kinds) e
        where lower(trim(e ->> 'taxComponentName')) = lower(trim(c.tax_component_name)) limit 1),
      case lower(trim(c.tax_component_name))
        when 'australianfrankeddividends' then 'FrankedDividend'
        when 'australianincomedividendsfranked' then 'FrankedDividend'
        when 'australianunfrankeddividends' then 'UnfrankedDividend'
        when 'australianincomedividendsunfrankedpercentage' then 'UnfrankedDividend'
        when 'capitalgains' then 'CapitalGain'
        when 'capitalgainscapital' then 'CapitalGain' end) order by c.ordinal) as kinds,
    min(p.company_tax_percentage) as company_tax
  from distribution_component c join product p on p.product_id = c.product_id
  group by c.product_id, c.corporate_action_id) k
where k.product_id = d.product_id and k.corporate_action_id = d.corporate_action_id
  and d.distribution_status_id >= 3;
