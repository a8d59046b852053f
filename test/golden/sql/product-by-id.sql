select to_json(r) as json_records from (select p.product_id as "productID",
  p.external_product_id as "externalProductId",
  p.name as "name",
  p.currency_id as "currencyID",
  p.description as "description",
  p.is_active as "isActive",
  p.time_zone as "timeZone",
  p.locked_date as "lockedDate",
  p.withholding as "withholding",
  p.tax_component_kinds as "taxComponentKinds",
  p.bank_detail_cool_off_days as "bankDetailCoolOffDays",
  p.financial_year_end as "financialYearEnd",
  trim_scale(p.company_tax_percentage) as "companyTaxPercentage",
  p.issuer as "issuer",
  to_char(p.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "createdDate",
  to_char(p.updated_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "updatedDate" from product p where
p.product_id = $1 and true
order by p.product_id limit 100) r;
