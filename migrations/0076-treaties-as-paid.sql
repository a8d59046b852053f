-- Banks are told of tax withheld by a treaty when a payment run is approved, days after it was withheld:
-- the treaties are kept as they were, whatever becomes of the rates. What was paid before has none.
alter table distribution add column paid_treaties text[];
