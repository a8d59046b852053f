-- The end of a financial year was taken for any of 31 days of any month, and one that the month does
-- not have stood for a day of the next. It is the last day of its month then.
update product set financial_year_end = '02-28'
where financial_year_end in ('02-29', '02-30', '02-31');
update product set financial_year_end = left(financial_year_end, 3) || '30'
where financial_year_end in ('04-31', '06-31', '09-31', '11-31');
