select b.biz_entity_id as id, b.own, (
select
case when coalesce(bool_and(r.is_plain), true) then coalesce(json_agg(r.record), '[]') end
from (
  select to_json(x) as record, bal.is_plain and not pr.has_later as is_plain
  from account a
  cross join lateral (
    select pr.external_product_id, pr.today, coalesce((
      select l.last_date > pr.today from ledger_account l
      where l.product_id = a.product_id and l.account_id = a.account_id), false) as has_later
    from (
      select external_product_id, product_today(product.time_zone) as today
      from product where product_id = a.product_id limit 1) pr) pr
  cross join lateral (
select sum(c.amount) as balance,
  case when count(*) > 0 then json_build_array(
    json_build_object('currencyID', a.currency_id, 'amount', trim_scale(sum(c.amount)))) end as balances,
  coalesce(bool_and(c.currency_id = a.currency_id), true) as is_plain
from (
  select v.currency_id,
    case when h.quantity = 0 then 0 when v.price is null then h.invested_amount
      else round(h.quantity * v.price, minor_units(v.currency_id)) end as amount
  from holding h
  cross join lateral (
    select i.currency_id, (
      select price
      from investment_price n
      where n.investment_id = i.investment_id and n.price_date <= pr.today
      order by n.price_date desc limit 1) as price
    from investment i where i.investment_id = h.investment_id limit 1) v
  where h.product_id = a.product_id
    and h.account_id = a.account_id) c) bal
  cross join lateral (select a.account_id as "accountID",
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
  coalesce(bal.balances, '[]') as "balances") x
  where a.biz_entity_id = b.biz_entity_id
  order by a.account_id) r) as accounts,
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
(select
case when coalesce(bool_and(r."organisationID" is null), true) then coalesce(json_agg(r), '[]') end
from (
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
  yp.person, null::json as organisation
  from biz_entity_party y
  left join lateral (
    select r."personID" as person_id, r."externalPersonId" as external_person_id,
      to_json(r) as person
    from (
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
from person p where p.person_id = y.person_id) r) yp on true
  cross join (select null::text as external_organisation_id) yo
  where y.biz_entity_id = b.biz_entity_id
  order by y.ordinal, y.biz_entity_party_id) r) as parties,
  exists (select 1 from biz_entity_parent l where l.biz_entity_id = b.biz_entity_id)
    as "hasParents"
from (
    select value::int as id from json_array_elements_text($1)
    limit 24) g
cross join lateral (
  select o."bizEntityID" as biz_entity_id, o."externalBizEntityId" as external_biz_entity_id,
    to_json(o) as own
  from (
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
  to_char(b.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "createdDate" from biz_entity b
    where b.biz_entity_id = g.id and true limit 1) o) b;

select b.biz_entity_id as id, b.own, (
select
case when coalesce(bool_and(r.is_plain), true) then coalesce(json_agg(r.record), '[]') end
from (
  select to_json(x) as record, bal.is_plain and not pr.has_later as is_plain
  from account a
  cross join lateral (
    select pr.external_product_id, pr.today, coalesce((
      select l.last_date > pr.today from ledger_account l
      where l.product_id = a.product_id and l.account_id = a.account_id), false) as has_later
    from (
      select external_product_id, product_today(product.time_zone) as today
      from product where product_id = a.product_id limit 1) pr) pr
  cross join lateral (
select sum(c.amount) as balance,
  case when count(*) > 0 then json_build_array(
    json_build_object('currencyID', a.currency_id, 'amount', trim_scale(sum(c.amount)))) end as balances,
  coalesce(bool_and(c.currency_id = a.currency_id), true) as is_plain
from (
  select v.currency_id,
    case when h.quantity = 0 then 0 when v.price is null then h.invested_amount
      else round(h.quantity * v.price, minor_units(v.currency_id)) end as amount
  from holding h
  cross join lateral (
    select i.currency_id, (
      select price
      from investment_price n
      where n.investment_id = i.investment_id and n.price_date <= pr.today
      order by n.price_date desc limit 1) as price
    from investment i where i.investment_id = h.investment_id limit 1) v
  where h.product_id = a.product_id
    and h.account_id = a.account_id) c) bal
  cross join lateral (select a.account_id as "accountID",
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
  coalesce(bal.balances, '[]') as "balances") x
  where a.biz_entity_id = b.biz_entity_id
  order by a.account_id) r) as accounts,
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
  yp.person, case when y.organisation_id is not null
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
  left join lateral (
    select r."personID" as person_id, r."externalPersonId" as external_person_id,
      to_json(r) as person
    from (
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
from person p where p.person_id = y.person_id) r) yp on true
  left join organisation yo on yo.organisation_id = y.organisation_id
  where y.biz_entity_id = b.biz_entity_id
  order by y.ordinal, y.biz_entity_party_id) r) as parties,
  exists (select 1 from biz_entity_parent l where l.biz_entity_id = b.biz_entity_id)
    as "hasParents"
from (
    select value::int as id from json_array_elements_text($1)
    limit 24) g
cross join lateral (
  select o."bizEntityID" as biz_entity_id, o."externalBizEntityId" as external_biz_entity_id,
    to_json(o) as own
  from (
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
  to_char(b.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "createdDate" from biz_entity b
    where b.biz_entity_id = g.id and true limit 1) o) b;
