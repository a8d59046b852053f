-- What belongs to an investor, a person or an organisation is shown in the order of its ids. By an
-- index that has this order nothing is sorted: seven sorts of one row or none each were an eighth of
-- what a page of investors costs. Most have one owner of three, and no entry for the others.
create index address_of_biz_entity on address (biz_entity_id, address_id)
  where biz_entity_id is not null;
create index address_of_person on address (person_id, address_id)
  where person_id is not null;
create index address_of_organisation on address (organisation_id, address_id)
  where organisation_id is not null;
drop index address_biz_entity;
drop index address_person;
drop index address_organisation;

create index communication_of_biz_entity on communication (biz_entity_id, communication_id)
  where biz_entity_id is not null;
create index communication_of_person on communication (person_id, communication_id)
  where person_id is not null;
create index communication_of_organisation on communication (organisation_id, communication_id)
  where organisation_id is not null;
drop index communication_biz_entity;
drop index communication_person;
drop index communication_organisation;

create index payment_detail_of_biz_entity on payment_detail (biz_entity_id, payment_detail_id);
drop index payment_detail_biz_entity;

create index biz_entity_party_of_entity
  on biz_entity_party (biz_entity_id, ordinal, biz_entity_party_id);
drop index biz_entity_party_entity;

create index biz_entity_parent_of_entity
  on biz_entity_parent (biz_entity_id, active_from, parent_biz_entity_id);
