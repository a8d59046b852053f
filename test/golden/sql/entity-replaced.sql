    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.biz_entity_id as id
from biz_entity r
where r.biz_entity_id = g.value and true and true limit 1) r;

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

select person_id as id from person where person_id = any($1::int[])
order by person_id for no key update;

select t.person_id, t.external_person_id, t.title_id, t.first_name, t.middle_name, t.last_name, t.description, t.abn, t.birth_country_code, t.crsfatca_participation_id, t.customer_code, t.date_of_birth, t.gender, t.drivers_license_issue_country_code, t.drivers_license_number, t.passport_issue_country_code, t.passport_number, t.identification_type_id, t.identification_value, t.is_director_of_corporate_trustee, t.is_pep, t.is_sophisticated_investor, t.is_trustee, t.pep_description, t.legal_guardian_title_id, t.legal_guardian_first_name, t.legal_guardian_last_name, t.legal_guardian_middle_name, t.salutation, t.share_percentage, t.sophisticated_investor_certificate_date, t.taxation_country_code, t.taxation_country_code2, t.taxation_country_code3, t.taxation_country_tin, t.taxation_country_tin_mask, t.taxation_country_tin2, t.taxation_country_tin2_mask, t.taxation_country_tin3, t.taxation_country_tin3_mask, t.taxation_country_no_tin_reason, t.taxation_country_no_tin_reason2, t.taxation_country_no_tin_reason3, t.taxation_file_number, t.taxation_file_number_mask, t.taxation_file_number_digest, t.taxation_file_number_doubt, t.tin, t.tin_mask, t.trading_name, t.tax_office_type_id from person t
where t.person_id = any($1::int[]);

select organisation_id as id from organisation where organisation_id = any($1::int[])
order by organisation_id for no key update;

select t.organisation_id, t.external_organisation_id, t.name, t.legal_name, t.abn, t.acn, t.organisation_type_id, t.taxation_file_number, t.taxation_file_number_mask, t.taxation_file_number_digest, t.taxation_file_number_doubt, t.tin, t.tin_mask, t.taxation_country_code, t.registration_country_code, t.description, t.is_corporate_trustee, t.licence_number, t.licence_active from organisation t
where t.organisation_id = any($1::int[]);

select biz_entity_id as id, product_id as "productID" from biz_entity
where biz_entity_id in (
  select unnest($1::int[])
  union
  select biz_entity_id from person_shown where person_id = any($2::int[])
  union
  select biz_entity_id from biz_entity_party
  where organisation_id = any($3::int[]))
order by biz_entity_id for no key update;

select t.biz_entity_id, t.external_biz_entity_id, t.biz_entity_type_id, t.biz_entity_status_id, t.name, t.legal_name, t.description, t.customer_code, t.advisor_number, t.authorized_nominee_person_id, t.biz_entity_tax_office_type_id, t.communication_preference_copy_parent_biz_entity, t.communication_preference_id, t.contact_person, t.controlling_pid, t.corporate_representative, t.customer_category_id, t.grouped_with_biz_entity_id, t.investor_type_id, t.is_director_interest, t.is_executive_interest, t.margin_lender_organisation_id, t.power_of_attorney, t.purpose_of_investment_id, t.sales_person_id, t.salutation, t.signature_party, t.sophisticated_investor_certificate_date, t.sophisticated_investor_comment, t.sophisticated_investor_eligibility, t.source_of_funds_id, t.special_conditions, t.standing_proxy, t.taxation_country_code, t.product_id from biz_entity t
where t.biz_entity_id = any($1::int[]);

  select coalesce(json_agg(r), '[]')::text as json, count(*)::int as count from (
with page as materialized (
select * from biz_entity b where b.biz_entity_id = any($1::int[])),
page_account as materialized (
  select a.* from page b join account a on a.biz_entity_id = b.biz_entity_id),
balance as (
select c.account_id, sum(c.amount) filter (where c.currency_id = c.own_currency_id) as balance,
  json_agg(json_build_object('currencyID', c.currency_id, 'amount', trim_scale(c.amount))
    order by c.currency_id) as balances
from (
  select a.account_id, a.currency_id as own_currency_id, i.currency_id,
    sum(case when s.quantity = 0 then 0 when v.price is null then s.invested
      else round(s.quantity * v.price, minor_units(i.currency_id)) end) as amount
  from page_account a
  cross join lateral (
    select product_today(p.time_zone) as today from product p where p.product_id = a.product_id limit 1) d
  cross join lateral (
    select exists (select 1 from ledger_account l
      where l.product_id = a.product_id and l.account_id = a.account_id
        and l.last_date > d.today) as has_later offset 0) l
  join holding h on h.product_id = a.product_id and h.account_id = a.account_id
  join investment i on i.investment_id = h.investment_id
  left join lateral (
select b.closing_quantity, b.closing_amount from transaction_line b
where l.has_later and b.product_id = h.product_id and b.account_id = h.account_id
  and b.investment_id = h.investment_id and b.transaction_date <= d.today
  and b.closing_quantity is not null
order by b.transaction_date desc, b.biz_transaction_id desc limit 1) b on true
  cross join lateral (select
    case when l.has_later then b.closing_quantity else h.quantity end as quantity,
    case when l.has_later then b.closing_amount else h.invested_amount end as invested) s
  left join lateral (
      select price
      from investment_price n
      where n.investment_id = h.investment_id and n.price_date <= d.today
      order by n.price_date desc limit 1) v on true
  where s.quantity is not null
  group by a.account_id, a.currency_id, i.currency_id) c
group by c.account_id),
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

    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.product_id as id
from product r
where r.product_id = g.value and true and true limit 1) r;

select t.account_id, t.external_account_id, t.product_id, t.account_number, t.currency_id, t.drp_type_id, trim_scale(t.drp_value) as drp_value, t.account_status_id, t.withholding_override::text as withholding_override, t.biz_entity_id from account t
where t.biz_entity_id = any($1::int[]) order by t.account_id;

select product_id as id, currency_id as "currencyID" from product
where product_id = any($1::int[]);

select t.biz_entity_party_id, t.person_id, t.organisation_id, t.is_primary_contact, t.is_income_receiving, t.is_signatory, t.is_authorised_nominee, t.is_power_of_attorney, t.ordinal, t.biz_entity_id from biz_entity_party t
where t.biz_entity_id = any($1::int[]) order by t.biz_entity_party_id;

select t.address_id, t.external_address_id, t.address_type_id, t.above_address_line, t.address_line, t.suburb, t.postcode, t.state_code, t.country_code, t.office_id, t.biz_entity_id, t.person_id, t.organisation_id from address t
where t.biz_entity_id = any($1::int[]) order by t.address_id;

select t.communication_id, t.external_communication_id, t.communication_type_id, t.name, t.biz_entity_id, t.person_id, t.organisation_id from communication t
where t.biz_entity_id = any($1::int[]) order by t.communication_id;

select t.payment_detail_id, t.external_payment_detail_id, t.payment_type_id, t.bsb, t.account_number, t.account_name, t.address, t.comments, t.currency_id, t.iban, t.swift, t.intermediary_bank_account_name, t.intermediary_bank_account_number, t.intermediary_bank_address, t.intermediary_bank_name, t.intermediary_bank_swift, t.is_for_deposit, t.is_for_distribution, t.is_for_redemption, t.is_for_other, t.is_default, t.message, t.personal_name, t.reference, t.biz_entity_id from payment_detail t
where t.biz_entity_id = any($1::int[]) order by t.payment_detail_id;

select l.biz_entity_id, l.parent_biz_entity_id, l.dealer_group_biz_entity_id, l.active_from, l.active_to, not (true) as hidden
from biz_entity_parent l
join biz_entity pa on pa.biz_entity_id = l.parent_biz_entity_id
left join biz_entity dg on dg.biz_entity_id = l.dealer_group_biz_entity_id
where l.biz_entity_id = any($1::int[]);

insert into record_version (table_name, record_id, valid_to, image)
select $1::text, t.biz_entity_id, m.moment, to_jsonb(t) - $2::text[]
from biz_entity t cross join (select clock_timestamp() as moment) m
where t.biz_entity_id = any($3::int[]);

update biz_entity t set external_biz_entity_id = r.external_biz_entity_id, biz_entity_type_id = r.biz_entity_type_id, biz_entity_status_id = r.biz_entity_status_id, name = r.name, legal_name = r.legal_name, description = r.description, customer_code = r.customer_code, advisor_number = r.advisor_number, authorized_nominee_person_id = r.authorized_nominee_person_id, biz_entity_tax_office_type_id = r.biz_entity_tax_office_type_id, communication_preference_copy_parent_biz_entity = r.communication_preference_copy_parent_biz_entity, communication_preference_id = r.communication_preference_id, contact_person = r.contact_person, controlling_pid = r.controlling_pid, corporate_representative = r.corporate_representative, customer_category_id = r.customer_category_id, grouped_with_biz_entity_id = r.grouped_with_biz_entity_id, investor_type_id = r.investor_type_id, is_director_interest = r.is_director_interest, is_executive_interest = r.is_executive_interest, margin_lender_organisation_id = r.margin_lender_organisation_id, power_of_attorney = r.power_of_attorney, purpose_of_investment_id = r.purpose_of_investment_id, sales_person_id = r.sales_person_id, salutation = r.salutation, signature_party = r.signature_party, sophisticated_investor_certificate_date = r.sophisticated_investor_certificate_date, sophisticated_investor_comment = r.sophisticated_investor_comment, sophisticated_investor_eligibility = r.sophisticated_investor_eligibility, source_of_funds_id = r.source_of_funds_id, special_conditions = r.special_conditions, standing_proxy = r.standing_proxy, taxation_country_code = r.taxation_country_code, product_id = r.product_id, updated_date = m.moment
from unnest($1::integer[],$2::text[],$3::integer[],$4::integer[],$5::text[],$6::text[],$7::text[],$8::text[],$9::text[],$10::integer[],$11::integer[],$12::boolean[],$13::integer[],$14::text[],$15::integer[],$16::text[],$17::integer[],$18::integer[],$19::integer[],$20::boolean[],$21::boolean[],$22::integer[],$23::text[],$24::integer[],$25::integer[],$26::text[],$27::integer[],$28::date[],$29::text[],$30::text[],$31::integer[],$32::text[],$33::text[],$34::text[],$35::integer[]) r ("biz_entity_id", "external_biz_entity_id", "biz_entity_type_id", "biz_entity_status_id", "name", "legal_name", "description", "customer_code", "advisor_number", "authorized_nominee_person_id", "biz_entity_tax_office_type_id", "communication_preference_copy_parent_biz_entity", "communication_preference_id", "contact_person", "controlling_pid", "corporate_representative", "customer_category_id", "grouped_with_biz_entity_id", "investor_type_id", "is_director_interest", "is_executive_interest", "margin_lender_organisation_id", "power_of_attorney", "purpose_of_investment_id", "sales_person_id", "salutation", "signature_party", "sophisticated_investor_certificate_date", "sophisticated_investor_comment", "sophisticated_investor_eligibility", "source_of_funds_id", "special_conditions", "standing_proxy", "taxation_country_code", "product_id") cross join (select clock_timestamp() as moment) m
where t.biz_entity_id = r.biz_entity_id;

update biz_entity set updated_date_full = m.moment
from (select clock_timestamp() as moment) m
where biz_entity_id = any($1::int[]);

  select coalesce(json_agg(r), '[]')::text as json, count(*)::int as count from (
with page as materialized (
select * from biz_entity b where b.biz_entity_id = any($1::int[])),
page_account as materialized (
  select a.* from page b join account a on a.biz_entity_id = b.biz_entity_id),
balance as (
select c.account_id, sum(c.amount) filter (where c.currency_id = c.own_currency_id) as balance,
  json_agg(json_build_object('currencyID', c.currency_id, 'amount', trim_scale(c.amount))
    order by c.currency_id) as balances
from (
  select a.account_id, a.currency_id as own_currency_id, i.currency_id,
    sum(case when s.quantity = 0 then 0 when v.price is null then s.invested
      else round(s.quantity * v.price, minor_units(i.currency_id)) end) as amount
  from page_account a
  cross join lateral (
    select product_today(p.time_zone) as today from product p where p.product_id = a.product_id limit 1) d
  cross join lateral (
    select exists (select 1 from ledger_account l
      where l.product_id = a.product_id and l.account_id = a.account_id
        and l.last_date > d.today) as has_later offset 0) l
  join holding h on h.product_id = a.product_id and h.account_id = a.account_id
  join investment i on i.investment_id = h.investment_id
  left join lateral (
select b.closing_quantity, b.closing_amount from transaction_line b
where l.has_later and b.product_id = h.product_id and b.account_id = h.account_id
  and b.investment_id = h.investment_id and b.transaction_date <= d.today
  and b.closing_quantity is not null
order by b.transaction_date desc, b.biz_transaction_id desc limit 1) b on true
  cross join lateral (select
    case when l.has_later then b.closing_quantity else h.quantity end as quantity,
    case when l.has_later then b.closing_amount else h.invested_amount end as invested) s
  left join lateral (
      select price
      from investment_price n
      where n.investment_id = h.investment_id and n.price_date <= d.today
      order by n.price_date desc limit 1) v on true
  where s.quantity is not null
  group by a.account_id, a.currency_id, i.currency_id) c
group by c.account_id),
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
