select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.organisation_id as id, r.external_organisation_id as external,
  true as visible
from organisation r
where r.organisation_id = any($1::bigint[])
  or r.external_organisation_id = any($2::text[]);

select r.person_id as id, r.external_person_id as external,
  true as visible
from person r
where r.person_id = any($1::bigint[])
  or r.external_person_id = any($2::text[]);

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.address_id as id, r.external_address_id as external from address r
where (r.address_id = any($1::bigint[])
    or r.external_address_id = any($2::text[]))
  and true;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.communication_id as id, r.external_communication_id as external from communication r
where (r.communication_id = any($1::bigint[])
    or r.external_communication_id = any($2::text[]))
  and true;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.address_id as id, r.external_address_id as external from address r
where (r.address_id = any($1::bigint[])
    or r.external_address_id = any($2::text[]))
  and true;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.communication_id as id, r.external_communication_id as external from communication r
where (r.communication_id = any($1::bigint[])
    or r.external_communication_id = any($2::text[]))
  and true;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.product_id as id
from product r
where r.product_id = g.value and true and true limit 1) r;

select product_id as id, currency_id as "currencyID" from product
where product_id = any($1::int[]);

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select distinct on (t.place) t.place, t.number from (
  select n.place, n.number,
    exists (select 1 from account a
      where a.product_id = n.product_id and a.account_number = n.number)
    or exists (select 1 from retired_account_number r
      where r.product_id = n.product_id and r.account_number = n.number) as is_taken
  from (
    select g.place, g.product_id, nextval('account_number_seq')::text as number
    from unnest($1::int[], $2::int[])
      g (place, product_id)
    cross join generate_series(1, $3::int)
    offset 0) n
  offset 0) t
where not t.is_taken order by t.place, length(t.number), t.number;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.address_id as id, r.external_address_id as external from address r
where (r.address_id = any($1::bigint[])
    or r.external_address_id = any($2::text[]))
  and true;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.communication_id as id, r.external_communication_id as external from communication r
where (r.communication_id = any($1::bigint[])
    or r.external_communication_id = any($2::text[]))
  and true;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

select r.payment_detail_id as id, r.external_payment_detail_id as external from payment_detail r
where (r.payment_detail_id = any($1::bigint[])
    or r.external_payment_detail_id = any($2::text[]))
  and true;

select w.place::int, nextval(w.name::regclass)::int as id
from unnest($1::text[], $2::int[]) with ordinality w (name, count, place)
cross join lateral generate_series(1, w.count);

insert into person (person_id, external_person_id, title_id, first_name, middle_name, last_name, description, abn, birth_country_code, crsfatca_participation_id, customer_code, date_of_birth, gender, drivers_license_issue_country_code, drivers_license_number, passport_issue_country_code, passport_number, identification_type_id, identification_value, is_director_of_corporate_trustee, is_pep, is_sophisticated_investor, is_trustee, pep_description, legal_guardian_title_id, legal_guardian_first_name, legal_guardian_last_name, legal_guardian_middle_name, salutation, share_percentage, sophisticated_investor_certificate_date, taxation_country_code, taxation_country_code2, taxation_country_code3, taxation_country_tin, taxation_country_tin_mask, taxation_country_tin2, taxation_country_tin2_mask, taxation_country_tin3, taxation_country_tin3_mask, taxation_country_no_tin_reason, taxation_country_no_tin_reason2, taxation_country_no_tin_reason3, taxation_file_number, taxation_file_number_mask, taxation_file_number_digest, taxation_file_number_doubt, tin, tin_mask, trading_name, tax_office_type_id)
select r.person_id, r.external_person_id, r.title_id, r.first_name, r.middle_name, r.last_name, r.description, r.abn, r.birth_country_code, r.crsfatca_participation_id, r.customer_code, r.date_of_birth, r.gender, r.drivers_license_issue_country_code, r.drivers_license_number, r.passport_issue_country_code, r.passport_number, r.identification_type_id, r.identification_value, r.is_director_of_corporate_trustee, r.is_pep, r.is_sophisticated_investor, r.is_trustee, r.pep_description, r.legal_guardian_title_id, r.legal_guardian_first_name, r.legal_guardian_last_name, r.legal_guardian_middle_name, r.salutation, r.share_percentage, r.sophisticated_investor_certificate_date, r.taxation_country_code, r.taxation_country_code2, r.taxation_country_code3, r.taxation_country_tin, r.taxation_country_tin_mask, r.taxation_country_tin2, r.taxation_country_tin2_mask, r.taxation_country_tin3, r.taxation_country_tin3_mask, r.taxation_country_no_tin_reason, r.taxation_country_no_tin_reason2, r.taxation_country_no_tin_reason3, r.taxation_file_number, r.taxation_file_number_mask, r.taxation_file_number_digest, r.taxation_file_number_doubt, r.tin, r.tin_mask, r.trading_name, r.tax_office_type_id from unnest($1::integer[],$2::text[],$3::integer[],$4::text[],$5::text[],$6::text[],$7::text[],$8::text[],$9::text[],$10::integer[],$11::text[],$12::date[],$13::text[],$14::text[],$15::text[],$16::text[],$17::text[],$18::integer[],$19::text[],$20::boolean[],$21::boolean[],$22::boolean[],$23::boolean[],$24::text[],$25::integer[],$26::text[],$27::text[],$28::text[],$29::text[],$30::integer[],$31::date[],$32::text[],$33::text[],$34::text[],$35::text[],$36::text[],$37::text[],$38::text[],$39::text[],$40::text[],$41::text[],$42::text[],$43::text[],$44::text[],$45::text[],$46::text[],$47::boolean[],$48::text[],$49::text[],$50::text[],$51::integer[]) r ("person_id", "external_person_id", "title_id", "first_name", "middle_name", "last_name", "description", "abn", "birth_country_code", "crsfatca_participation_id", "customer_code", "date_of_birth", "gender", "drivers_license_issue_country_code", "drivers_license_number", "passport_issue_country_code", "passport_number", "identification_type_id", "identification_value", "is_director_of_corporate_trustee", "is_pep", "is_sophisticated_investor", "is_trustee", "pep_description", "legal_guardian_title_id", "legal_guardian_first_name", "legal_guardian_last_name", "legal_guardian_middle_name", "salutation", "share_percentage", "sophisticated_investor_certificate_date", "taxation_country_code", "taxation_country_code2", "taxation_country_code3", "taxation_country_tin", "taxation_country_tin_mask", "taxation_country_tin2", "taxation_country_tin2_mask", "taxation_country_tin3", "taxation_country_tin3_mask", "taxation_country_no_tin_reason", "taxation_country_no_tin_reason2", "taxation_country_no_tin_reason3", "taxation_file_number", "taxation_file_number_mask", "taxation_file_number_digest", "taxation_file_number_doubt", "tin", "tin_mask", "trading_name", "tax_office_type_id");

insert into organisation (organisation_id, external_organisation_id, name, legal_name, abn, acn, organisation_type_id, taxation_file_number, taxation_file_number_mask, taxation_file_number_digest, taxation_file_number_doubt, tin, tin_mask, taxation_country_code, registration_country_code, description, is_corporate_trustee, licence_number, licence_active)
select r.organisation_id, r.external_organisation_id, r.name, r.legal_name, r.abn, r.acn, r.organisation_type_id, r.taxation_file_number, r.taxation_file_number_mask, r.taxation_file_number_digest, r.taxation_file_number_doubt, r.tin, r.tin_mask, r.taxation_country_code, r.registration_country_code, r.description, r.is_corporate_trustee, r.licence_number, r.licence_active from unnest($1::integer[],$2::text[],$3::text[],$4::text[],$5::text[],$6::text[],$7::integer[],$8::text[],$9::text[],$10::text[],$11::boolean[],$12::text[],$13::text[],$14::text[],$15::text[],$16::text[],$17::boolean[],$18::text[],$19::boolean[]) r ("organisation_id", "external_organisation_id", "name", "legal_name", "abn", "acn", "organisation_type_id", "taxation_file_number", "taxation_file_number_mask", "taxation_file_number_digest", "taxation_file_number_doubt", "tin", "tin_mask", "taxation_country_code", "registration_country_code", "description", "is_corporate_trustee", "licence_number", "licence_active");

insert into organisation_person (relationship_type_id, is_signatory, organisation_id, person_id, ordinal)
select r.relationship_type_id, r.is_signatory, r.organisation_id, r.person_id, r.ordinal from unnest($1::integer[],$2::boolean[],$3::integer[],$4::integer[],$5::integer[]) r ("relationship_type_id", "is_signatory", "organisation_id", "person_id", "ordinal");

insert into biz_entity (biz_entity_id, external_biz_entity_id, biz_entity_type_id, biz_entity_status_id, name, legal_name, description, customer_code, advisor_number, authorized_nominee_person_id, biz_entity_tax_office_type_id, communication_preference_copy_parent_biz_entity, communication_preference_id, contact_person, controlling_pid, corporate_representative, customer_category_id, grouped_with_biz_entity_id, investor_type_id, is_director_interest, is_executive_interest, margin_lender_organisation_id, power_of_attorney, purpose_of_investment_id, sales_person_id, salutation, signature_party, sophisticated_investor_certificate_date, sophisticated_investor_comment, sophisticated_investor_eligibility, source_of_funds_id, special_conditions, standing_proxy, taxation_country_code, product_id)
select r.biz_entity_id, r.external_biz_entity_id, r.biz_entity_type_id, r.biz_entity_status_id, r.name, r.legal_name, r.description, r.customer_code, r.advisor_number, r.authorized_nominee_person_id, r.biz_entity_tax_office_type_id, r.communication_preference_copy_parent_biz_entity, r.communication_preference_id, r.contact_person, r.controlling_pid, r.corporate_representative, r.customer_category_id, r.grouped_with_biz_entity_id, r.investor_type_id, r.is_director_interest, r.is_executive_interest, r.margin_lender_organisation_id, r.power_of_attorney, r.purpose_of_investment_id, r.sales_person_id, r.salutation, r.signature_party, r.sophisticated_investor_certificate_date, r.sophisticated_investor_comment, r.sophisticated_investor_eligibility, r.source_of_funds_id, r.special_conditions, r.standing_proxy, r.taxation_country_code, r.product_id from unnest($1::integer[],$2::text[],$3::integer[],$4::integer[],$5::text[],$6::text[],$7::text[],$8::text[],$9::text[],$10::integer[],$11::integer[],$12::boolean[],$13::integer[],$14::text[],$15::integer[],$16::text[],$17::integer[],$18::integer[],$19::integer[],$20::boolean[],$21::boolean[],$22::integer[],$23::text[],$24::integer[],$25::integer[],$26::text[],$27::integer[],$28::date[],$29::text[],$30::text[],$31::integer[],$32::text[],$33::text[],$34::text[],$35::integer[]) r ("biz_entity_id", "external_biz_entity_id", "biz_entity_type_id", "biz_entity_status_id", "name", "legal_name", "description", "customer_code", "advisor_number", "authorized_nominee_person_id", "biz_entity_tax_office_type_id", "communication_preference_copy_parent_biz_entity", "communication_preference_id", "contact_person", "controlling_pid", "corporate_representative", "customer_category_id", "grouped_with_biz_entity_id", "investor_type_id", "is_director_interest", "is_executive_interest", "margin_lender_organisation_id", "power_of_attorney", "purpose_of_investment_id", "sales_person_id", "salutation", "signature_party", "sophisticated_investor_certificate_date", "sophisticated_investor_comment", "sophisticated_investor_eligibility", "source_of_funds_id", "special_conditions", "standing_proxy", "taxation_country_code", "product_id");

insert into account (account_id, external_account_id, product_id, account_number, currency_id, drp_type_id, drp_value, account_status_id, withholding_override, biz_entity_id)
select r.account_id, r.external_account_id, r.product_id, r.account_number, r.currency_id, r.drp_type_id, r.drp_value, r.account_status_id, r.withholding_override, r.biz_entity_id from unnest($1::integer[],$2::text[],$3::integer[],$4::text[],$5::integer[],$6::integer[],$7::numeric[],$8::integer[],$9::json[],$10::integer[]) r ("account_id", "external_account_id", "product_id", "account_number", "currency_id", "drp_type_id", "drp_value", "account_status_id", "withholding_override", "biz_entity_id");

insert into biz_entity_party (biz_entity_party_id, person_id, organisation_id, is_primary_contact, is_income_receiving, is_signatory, is_authorised_nominee, is_power_of_attorney, ordinal, biz_entity_id)
select r.biz_entity_party_id, r.person_id, r.organisation_id, r.is_primary_contact, r.is_income_receiving, r.is_signatory, r.is_authorised_nominee, r.is_power_of_attorney, r.ordinal, r.biz_entity_id from unnest($1::integer[],$2::integer[],$3::integer[],$4::boolean[],$5::boolean[],$6::boolean[],$7::boolean[],$8::boolean[],$9::integer[],$10::integer[]) r ("biz_entity_party_id", "person_id", "organisation_id", "is_primary_contact", "is_income_receiving", "is_signatory", "is_authorised_nominee", "is_power_of_attorney", "ordinal", "biz_entity_id");

select external_address_id as external from address
where external_address_id = any($1::text[]);

insert into address (address_id, external_address_id, address_type_id, above_address_line, address_line, suburb, postcode, state_code, country_code, office_id, biz_entity_id, person_id, organisation_id)
select r.address_id, r.external_address_id, r.address_type_id, r.above_address_line, r.address_line, r.suburb, r.postcode, r.state_code, r.country_code, r.office_id, r.biz_entity_id, r.person_id, r.organisation_id from unnest($1::integer[],$2::text[],$3::integer[],$4::text[],$5::text[],$6::text[],$7::text[],$8::text[],$9::text[],$10::integer[],$11::integer[],$12::integer[],$13::integer[]) r ("address_id", "external_address_id", "address_type_id", "above_address_line", "address_line", "suburb", "postcode", "state_code", "country_code", "office_id", "biz_entity_id", "person_id", "organisation_id");

select external_communication_id as external from communication
where external_communication_id = any($1::text[]);

insert into communication (communication_id, external_communication_id, communication_type_id, name, biz_entity_id, person_id, organisation_id)
select r.communication_id, r.external_communication_id, r.communication_type_id, r.name, r.biz_entity_id, r.person_id, r.organisation_id from unnest($1::integer[],$2::text[],$3::integer[],$4::text[],$5::integer[],$6::integer[],$7::integer[]) r ("communication_id", "external_communication_id", "communication_type_id", "name", "biz_entity_id", "person_id", "organisation_id");

insert into payment_detail (payment_detail_id, external_payment_detail_id, payment_type_id, bsb, account_number, account_name, address, comments, currency_id, iban, swift, intermediary_bank_account_name, intermediary_bank_account_number, intermediary_bank_address, intermediary_bank_name, intermediary_bank_swift, is_for_deposit, is_for_distribution, is_for_redemption, is_for_other, is_default, message, personal_name, reference, biz_entity_id)
select r.payment_detail_id, r.external_payment_detail_id, r.payment_type_id, r.bsb, r.account_number, r.account_name, r.address, r.comments, r.currency_id, r.iban, r.swift, r.intermediary_bank_account_name, r.intermediary_bank_account_number, r.intermediary_bank_address, r.intermediary_bank_name, r.intermediary_bank_swift, r.is_for_deposit, r.is_for_distribution, r.is_for_redemption, r.is_for_other, r.is_default, r.message, r.personal_name, r.reference, r.biz_entity_id from unnest($1::integer[],$2::text[],$3::integer[],$4::text[],$5::text[],$6::text[],$7::text[],$8::text[],$9::integer[],$10::text[],$11::text[],$12::text[],$13::text[],$14::text[],$15::text[],$16::text[],$17::boolean[],$18::boolean[],$19::boolean[],$20::boolean[],$21::boolean[],$22::text[],$23::text[],$24::text[],$25::integer[]) r ("payment_detail_id", "external_payment_detail_id", "payment_type_id", "bsb", "account_number", "account_name", "address", "comments", "currency_id", "iban", "swift", "intermediary_bank_account_name", "intermediary_bank_account_number", "intermediary_bank_address", "intermediary_bank_name", "intermediary_bank_swift", "is_for_deposit", "is_for_distribution", "is_for_redemption", "is_for_other", "is_default", "message", "personal_name", "reference", "biz_entity_id");

  select coalesce(json_agg(r), '[]')::text as json, count(*)::int as count from (
with page as materialized (
select * from biz_entity b where b.biz_entity_id = any($1::int[])),
page_account as materialized (
  select a.* from page b join account a on a.biz_entity_id = b.biz_entity_id),
balance as (
select null::int as account_id, null::numeric as balance, null::json as balances where false),
accounts as (
  select r."bizEntityID" as id, json_agg(r.record order by r."accountID") as list
  from (
    select a.biz_entity_id as "bizEntityID",
  a.account_id as "accountID",
  (select to_json(r) from (
      select a.account_id as "accountID",
  a.external_account_id as "externalAccountId",
  a.product_id as "productID",
  pr.external_product_id as "externalProductId",
  a.account_number as "accountNumber",
  a.currency_id as "currencyID",
  a.drp_type_id as "drpTypeID",
  trim_scale(a.drp_value) as "drpValue",
  a.account_status_id as "accountStatusID",
  a.withholding_override as "withholdingOverride",
  trim_scale(coalesce(bal.balance, 0)) as "balance",
  coalesce(bal.balances, '[]') as "balances") r) as record
    from page_account a
    cross join lateral (
      select external_product_id from product where product_id = a.product_id limit 1) pr
    left join balance bal on bal.account_id = a.account_id) r
  group by r."bizEntityID")
select b.biz_entity_id as "bizEntityID",
  b.external_biz_entity_id as "externalBizEntityId",
  b.biz_entity_type_id as "bizEntityTypeID",
  b.biz_entity_status_id as "bizEntityStatusID",
  b.name as "name",
  b.legal_name as "legalName",
  b.description as "description",
  b.customer_code as "customerCode",
  b.advisor_number as "advisorNumber",
  b.authorized_nominee_person_id as "authorizedNomineePersonID",
  b.biz_entity_tax_office_type_id as "bizEntityTaxOfficeTypeID",
  b.communication_preference_copy_parent_biz_entity as "communicationPreferenceCopyParentBizEntity",
  b.communication_preference_id as "communicationPreferenceID",
  b.contact_person as "contactPerson",
  b.controlling_pid as "controllingPID",
  b.corporate_representative as "corporateRepresentative",
  b.customer_category_id as "customerCategoryID",
  b.grouped_with_biz_entity_id as "groupedWithBizEntityID",
  b.investor_type_id as "investorTypeID",
  b.is_director_interest as "isDirectorInterest",
  b.is_executive_interest as "isExecutiveInterest",
  b.margin_lender_organisation_id as "marginLenderOrganisationID",
  b.power_of_attorney as "powerOfAttorney",
  b.purpose_of_investment_id as "purposeOfInvestmentID",
  b.sales_person_id as "salesPersonID",
  b.salutation as "salutation",
  b.signature_party as "signatureParty",
  b.sophisticated_investor_certificate_date as "sophisticatedInvestorCertificateDate",
  b.sophisticated_investor_comment as "sophisticatedInvestorComment",
  b.sophisticated_investor_eligibility as "sophisticatedInvestorEligibility",
  b.source_of_funds_id as "sourceOfFundsID",
  b.special_conditions as "specialConditions",
  b.standing_proxy as "standingProxy",
  b.taxation_country_code as "taxationCountryCode",
  to_char(b.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "createdDate",
  coalesce(accounts.list, '[]') as accounts,
  (select coalesce(json_agg(r), '[]') from (
  select t.address_id as "addressID",
  t.external_address_id as "externalAddressId",
  t.address_type_id as "addressTypeID",
  t.above_address_line as "aboveAddressLine",
  t.address_line as "addressLine",
  t.suburb as "suburb",
  t.postcode as "postcode",
  t.state_code as "stateCode",
  t.country_code as "countryCode",
  t.office_id as "officeID",
  t.biz_entity_id as "bizEntityID",
  b.external_biz_entity_id as "externalBizEntityId",
  t.person_id as "personID",
  null::varchar as "externalPersonId",
  t.organisation_id as "organisationID",
  null::varchar as "externalOrganisationId" from address t
  where t.biz_entity_id = b.biz_entity_id order by t.address_id) r) as addresses, (select coalesce(json_agg(r), '[]') from (
  select t.communication_id as "communicationID",
  t.external_communication_id as "externalCommunicationId",
  t.communication_type_id as "communicationTypeID",
  t.name as "name",
  t.biz_entity_id as "bizEntityID",
  b.external_biz_entity_id as "externalBizEntityId",
  t.person_id as "personID",
  null::varchar as "externalPersonId",
  t.organisation_id as "organisationID",
  null::varchar as "externalOrganisationId" from communication t
  where t.biz_entity_id = b.biz_entity_id order by t.communication_id) r) as communications,
  (select coalesce(json_agg(r), '[]') from (
  select t.payment_detail_id as "paymentDetailID",
  t.external_payment_detail_id as "externalPaymentDetailId",
  t.payment_type_id as "paymentTypeID",
  t.biz_entity_id as "bizEntityID",
  b.external_biz_entity_id as "externalBizEntityId",
  t.bsb as "bsb",
  t.account_number as "accountNumber",
  t.account_name as "accountName",
  t.address as "address",
  t.comments as "comments",
  t.currency_id as "currencyID",
  t.iban as "iban",
  t.swift as "swift",
  t.intermediary_bank_account_name as "intermediaryBankAccountName",
  t.intermediary_bank_account_number as "intermediaryBankAccountNumber",
  t.intermediary_bank_address as "intermediaryBankAddress",
  t.intermediary_bank_name as "intermediaryBankName",
  t.intermediary_bank_swift as "intermediaryBankSWIFT",
  t.is_for_deposit as "isForDeposit",
  t.is_for_distribution as "isForDistribution",
  t.is_for_redemption as "isForRedemption",
  t.is_for_other as "isForOther",
  t.is_default as "isDefault",
  t.message as "message",
  t.personal_name as "personalName",
  t.reference as "reference" from payment_detail t
  where t.biz_entity_id = b.biz_entity_id order by t.payment_detail_id) r) as "paymentDetails",
  (select coalesce(json_agg(r), '[]') from (
select y.biz_entity_party_id as "bizEntityPartyID",
  y.organisation_id as "organisationID",
  yo.external_organisation_id as "externalOrganisationId",
  y.person_id as "personID",
  yp.external_person_id as "externalPersonId",
  y.is_primary_contact as "isPrimaryContact",
  y.is_income_receiving as "isIncomeReceiving",
  y.is_signatory as "isSignatory",
  y.is_authorised_nominee as "isAuthorisedNominee",
  y.is_power_of_attorney as "isPowerOfAttorney",
  y.ordinal as "ordinal",
  (select to_json(r) from (
select p.person_id as "personID",
  p.external_person_id as "externalPersonId",
  p.title_id as "titleID",
  p.first_name as "firstName",
  p.middle_name as "middleName",
  p.last_name as "lastName",
  p.description as "description",
  p.abn as "abn",
  p.birth_country_code as "birthCountryCode",
  p.crsfatca_participation_id as "crsfatcaParticipationID",
  p.customer_code as "customerCode",
  p.date_of_birth as "dateOfBirth",
  p.gender as "gender",
  p.drivers_license_issue_country_code as "driversLicenseIssueCountryCode",
  p.drivers_license_number as "driversLicenseNumber",
  p.passport_issue_country_code as "passportIssueCountryCode",
  p.passport_number as "passportNumber",
  p.identification_type_id as "identificationTypeID",
  p.identification_value as "identificationValue",
  p.is_director_of_corporate_trustee as "isDirectorOfCorporateTrustee",
  p.is_pep as "isPEP",
  p.is_sophisticated_investor as "isSophisticatedInvestor",
  p.is_trustee as "isTrustee",
  p.pep_description as "pepDescription",
  p.legal_guardian_title_id as "legalGuardianTitleID",
  p.legal_guardian_first_name as "legalGuardianFirstName",
  p.legal_guardian_last_name as "legalGuardianLastName",
  p.legal_guardian_middle_name as "legalGuardianMiddleName",
  p.salutation as "salutation",
  p.share_percentage as "sharePercentage",
  p.sophisticated_investor_certificate_date as "sophisticatedInvestorCertificateDate",
  p.taxation_country_code as "taxationCountryCode",
  p.taxation_country_code2 as "taxationCountryCode2",
  p.taxation_country_code3 as "taxationCountryCode3",
  p.taxation_country_tin_mask as "taxationCountryTIN",
  p.taxation_country_tin2_mask as "taxationCountryTIN2",
  p.taxation_country_tin3_mask as "taxationCountryTIN3",
  p.taxation_country_no_tin_reason as "taxationCountryNoTINReason",
  p.taxation_country_no_tin_reason2 as "taxationCountryNoTINReason2",
  p.taxation_country_no_tin_reason3 as "taxationCountryNoTINReason3",
  p.taxation_file_number_mask as "taxationFileNumber",
  p.tin_mask as "tin",
  p.trading_name as "tradingName",
  p.tax_office_type_id as "taxOfficeTypeID",
  (select coalesce(json_agg(r), '[]') from (
  select t.address_id as "addressID",
  t.external_address_id as "externalAddressId",
  t.address_type_id as "addressTypeID",
  t.above_address_line as "aboveAddressLine",
  t.address_line as "addressLine",
  t.suburb as "suburb",
  t.postcode as "postcode",
  t.state_code as "stateCode",
  t.country_code as "countryCode",
  t.office_id as "officeID",
  t.biz_entity_id as "bizEntityID",
  null::varchar as "externalBizEntityId",
  t.person_id as "personID",
  p.external_person_id as "externalPersonId",
  t.organisation_id as "organisationID",
  null::varchar as "externalOrganisationId" from address t
  where t.person_id = p.person_id order by t.address_id) r) as addresses, (select coalesce(json_agg(r), '[]') from (
  select t.communication_id as "communicationID",
  t.external_communication_id as "externalCommunicationId",
  t.communication_type_id as "communicationTypeID",
  t.name as "name",
  t.biz_entity_id as "bizEntityID",
  null::varchar as "externalBizEntityId",
  t.person_id as "personID",
  p.external_person_id as "externalPersonId",
  t.organisation_id as "organisationID",
  null::varchar as "externalOrganisationId" from communication t
  where t.person_id = p.person_id order by t.communication_id) r) as communications
from (select yp.*) p where p.person_id is not null) r) as person,
  case when y.organisation_id is not null
    then (select to_json(r) from (
select o.organisation_id as "organisationID",
  o.external_organisation_id as "externalOrganisationId",
  o.name as "name",
  o.legal_name as "legalName",
  o.abn as "abn",
  o.acn as "acn",
  o.organisation_type_id as "organisationTypeID",
  o.taxation_file_number_mask as "taxationFileNumber",
  o.tin_mask as "tin",
  o.taxation_country_code as "taxationCountryCode",
  o.registration_country_code as "registrationCountryCode",
  o.description as "description",
  o.is_corporate_trustee as "isCorporateTrustee",
  o.licence_number as "licenceNumber",
  o.licence_active as "licenceActive",
  (select coalesce(json_agg(r), '[]') from (
select a.person_id as "personID",
  ap.external_person_id as "externalPersonId",
  a.relationship_type_id as "relationshipTypeID",
  a.is_signatory as "isSignatory",
  (select to_json(r) from (
select p.person_id as "personID",
  p.external_person_id as "externalPersonId",
  p.title_id as "titleID",
  p.first_name as "firstName",
  p.middle_name as "middleName",
  p.last_name as "lastName",
  p.description as "description",
  p.abn as "abn",
  p.birth_country_code as "birthCountryCode",
  p.crsfatca_participation_id as "crsfatcaParticipationID",
  p.customer_code as "customerCode",
  p.date_of_birth as "dateOfBirth",
  p.gender as "gender",
  p.drivers_license_issue_country_code as "driversLicenseIssueCountryCode",
  p.drivers_license_number as "driversLicenseNumber",
  p.passport_issue_country_code as "passportIssueCountryCode",
  p.passport_number as "passportNumber",
  p.identification_type_id as "identificationTypeID",
  p.identification_value as "identificationValue",
  p.is_director_of_corporate_trustee as "isDirectorOfCorporateTrustee",
  p.is_pep as "isPEP",
  p.is_sophisticated_investor as "isSophisticatedInvestor",
  p.is_trustee as "isTrustee",
  p.pep_description as "pepDescription",
  p.legal_guardian_title_id as "legalGuardianTitleID",
  p.legal_guardian_first_name as "legalGuardianFirstName",
  p.legal_guardian_last_name as "legalGuardianLastName",
  p.legal_guardian_middle_name as "legalGuardianMiddleName",
  p.salutation as "salutation",
  p.share_percentage as "sharePercentage",
  p.sophisticated_investor_certificate_date as "sophisticatedInvestorCertificateDate",
  p.taxation_country_code as "taxationCountryCode",
  p.taxation_country_code2 as "taxationCountryCode2",
  p.taxation_country_code3 as "taxationCountryCode3",
  p.taxation_country_tin_mask as "taxationCountryTIN",
  p.taxation_country_tin2_mask as "taxationCountryTIN2",
  p.taxation_country_tin3_mask as "taxationCountryTIN3",
  p.taxation_country_no_tin_reason as "taxationCountryNoTINReason",
  p.taxation_country_no_tin_reason2 as "taxationCountryNoTINReason2",
  p.taxation_country_no_tin_reason3 as "taxationCountryNoTINReason3",
  p.taxation_file_number_mask as "taxationFileNumber",
  p.tin_mask as "tin",
  p.trading_name as "tradingName",
  p.tax_office_type_id as "taxOfficeTypeID",
  (select coalesce(json_agg(r), '[]') from (
  select t.address_id as "addressID",
  t.external_address_id as "externalAddressId",
  t.address_type_id as "addressTypeID",
  t.above_address_line as "aboveAddressLine",
  t.address_line as "addressLine",
  t.suburb as "suburb",
  t.postcode as "postcode",
  t.state_code as "stateCode",
  t.country_code as "countryCode",
  t.office_id as "officeID",
  t.biz_entity_id as "bizEntityID",
  null::varchar as "externalBizEntityId",
  t.person_id as "personID",
  p.external_person_id as "externalPersonId",
  t.organisation_id as "organisationID",
  null::varchar as "externalOrganisationId" from address t
  where t.person_id = p.person_id order by t.address_id) r) as addresses, (select coalesce(json_agg(r), '[]') from (
  select t.communication_id as "communicationID",
  t.external_communication_id as "externalCommunicationId",
  t.communication_type_id as "communicationTypeID",
  t.name as "name",
  t.biz_entity_id as "bizEntityID",
  null::varchar as "externalBizEntityId",
  t.person_id as "personID",
  p.external_person_id as "externalPersonId",
  t.organisation_id as "organisationID",
  null::varchar as "externalOrganisationId" from communication t
  where t.person_id = p.person_id order by t.communication_id) r) as communications
from person p where p.person_id = a.person_id) r) as person
from organisation_person a join person ap on ap.person_id = a.person_id
where a.organisation_id = o.organisation_id order by a.ordinal) r) as "associatedPersons",
  (select coalesce(json_agg(r), '[]') from (
  select t.address_id as "addressID",
  t.external_address_id as "externalAddressId",
  t.address_type_id as "addressTypeID",
  t.above_address_line as "aboveAddressLine",
  t.address_line as "addressLine",
  t.suburb as "suburb",
  t.postcode as "postcode",
  t.state_code as "stateCode",
  t.country_code as "countryCode",
  t.office_id as "officeID",
  t.biz_entity_id as "bizEntityID",
  null::varchar as "externalBizEntityId",
  t.person_id as "personID",
  null::varchar as "externalPersonId",
  t.organisation_id as "organisationID",
  o.external_organisation_id as "externalOrganisationId" from address t
  where t.organisation_id = o.organisation_id order by t.address_id) r) as addresses, (select coalesce(json_agg(r), '[]') from (
  select t.communication_id as "communicationID",
  t.external_communication_id as "externalCommunicationId",
  t.communication_type_id as "communicationTypeID",
  t.name as "name",
  t.biz_entity_id as "bizEntityID",
  null::varchar as "externalBizEntityId",
  t.person_id as "personID",
  null::varchar as "externalPersonId",
  t.organisation_id as "organisationID",
  o.external_organisation_id as "externalOrganisationId" from communication t
  where t.organisation_id = o.organisation_id order by t.communication_id) r) as communications
from organisation o where o.organisation_id = y.organisation_id) r) end as organisation
from biz_entity_party y
left join person yp on yp.person_id = y.person_id
left join organisation yo on yo.organisation_id = y.organisation_id
where y.biz_entity_id = b.biz_entity_id
order by y.ordinal, y.biz_entity_party_id) r) as "bizEntityParties",
  case when (select true from biz_entity_parent l where l.biz_entity_id = b.biz_entity_id limit 1)
    then (select coalesce(json_agg(r), '[]') from (
select l.biz_entity_id as "bizEntityID",
  c.external_biz_entity_id as "externalBizEntityId",
  l.parent_biz_entity_id as "parentBizEntityID",
  pa.external_biz_entity_id as "parentExternalBizEntityId",
  l.dealer_group_biz_entity_id as "dealerGroupBizEntityID",
  dg.external_biz_entity_id as "externalDealerGroupBizEntityId",
  l.active_to as "activeTo",
  l.active_from as "activeFrom"
from biz_entity_parent l
join biz_entity c on c.biz_entity_id = l.biz_entity_id
join biz_entity pa on pa.biz_entity_id = l.parent_biz_entity_id
left join biz_entity dg on dg.biz_entity_id = l.dealer_group_biz_entity_id
where true and l.biz_entity_id = b.biz_entity_id order by l.active_from, l.parent_biz_entity_id) r)
    else '[]'::json end as "bizEntityParents"
from page b left join accounts on accounts.id = b.biz_entity_id
order by b.biz_entity_id) r;

  with nothing_kept as (select 1)
  , raised as (
insert into event (type, resource, product_id, ids, counts, user_id)
select * from json_to_recordset($1) as g
  (type text, resource text, product_id int, ids bigint[], counts json, user_id int))
insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
  product_id, changes, request_id, request_ids, record_ids, is_event)
  select user_id, username, operation, resource, resource_id, resource_ids, product_id,
    changes, request_id, null::text[], null::bigint[], null::boolean
  from rows from (
    json_to_recordset($2) as (user_id int, username text,
      operation text, resource text, resource_id bigint, resource_ids bigint[], product_id int,
      request_id text),
    unnest($3::json[])) as g (user_id,
    username, operation, resource, resource_id, resource_ids, product_id, request_id,
    changes);
