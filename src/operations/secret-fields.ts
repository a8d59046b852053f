import * as apiKey from '../access/api-key/schema.ts'
import * as approval from '../access/approval/schema.ts'
import * as audit from '../access/audit/schema.ts'
import * as secondFactor from '../access/second-factor/schema.ts'
import * as user from '../access/user/schema.ts'
import * as affected from '../catalogue/investment/affected-schema.ts'
import * as investment from '../catalogue/investment/schema.ts'
import * as productMoney from '../catalogue/product/money-schema.ts'
import * as product from '../catalogue/product/schema.ts'
import * as event from '../integration/event/schema.ts'
import * as importing from '../integration/import/schema.ts'
import * as webhook from '../integration/webhook/schema.ts'
import * as bizEvent from '../ledger/biz-event/schema.ts'
import * as bizTransaction from '../ledger/biz-transaction/schema.ts'
import * as holding from '../ledger/holding/schema.ts'
import * as distribution from '../money/distribution/schema.ts'
import * as paymentRun from '../money/payment-run/schema.ts'
import * as withholdingRate from '../money/withholding-rate/schema.ts'
import * as account from '../parties/account/schema.ts'
import * as address from '../parties/address/schema.ts'
import * as bizEntityParent from '../parties/biz-entity/parent-schema.ts'
import * as bizEntityParty from '../parties/biz-entity/party-schema.ts'
import * as bizEntity from '../parties/biz-entity/schema.ts'
import * as communication from '../parties/communication/schema.ts'
import * as organisation from '../parties/organisation/schema.ts'
import * as paymentDetail from '../parties/payment-detail/schema.ts'
import * as person from '../parties/person/schema.ts'
import * as taxStanding from '../parties/tax-standing/schema.ts'
import { sensitiveNames } from '../platform/shape/keywords.ts'
import * as document from '../records/document/schema.ts'
import * as hold from '../records/hold/schema.ts'
import * as report from '../records/report/schema.ts'
import * as search from '../records/search/schema.ts'

/** Every schema of the API; test/tidy.test.ts checks that none is missing. */
const schemas = [
  apiKey,
  approval,
  audit,
  secondFactor,
  user,
  affected,
  investment,
  product,
  productMoney,
  bizEvent,
  bizTransaction,
  holding,
  distribution,
  paymentRun,
  withholdingRate,
  taxStanding,
  account,
  address,
  bizEntityParent,
  bizEntityParty,
  bizEntity,
  communication,
  organisation,
  paymentDetail,
  person,
  document,
  hold,
  report,
  search,
  event,
  webhook,
  importing,
]

/** The names of fields that any schema marks as sensitive: no log may show their values. */
export const secretFields = sensitiveNames(
  schemas
    .flatMap((room) => Object.values<unknown>(room))
    .filter((value) => typeof value === 'object' && value !== null),
)
