import type {
  ApiKey as ApiKeySchema,
  NewApiKey as NewApiKeySchema,
} from '../../../src/access/api-key/schema.ts'
import type {
  ApprovalRule as ApprovalRuleSchema,
  Approval as ApprovalSchema,
} from '../../../src/access/approval/schema.ts'
import type { Audit as AuditSchema } from '../../../src/access/audit/schema.ts'
import type {
  Me as MeSchema,
  Session as SessionSchema,
  User as UserSchema,
} from '../../../src/access/user/schema.ts'
import type { AffectedTransaction as AffectedTransactionSchema } from '../../../src/catalogue/investment/affected-schema.ts'
import type {
  InvestmentPrice as InvestmentPriceSchema,
  Investment as InvestmentSchema,
} from '../../../src/catalogue/investment/schema.ts'
import type { Product as ProductSchema } from '../../../src/catalogue/product/schema.ts'
import type { Import as ImportSchema } from '../../../src/integration/import/schema.ts'
import type {
  Delivery as DeliverySchema,
  Webhook as WebhookSchema,
  WebhookWithSecret as WebhookWithSecretSchema,
} from '../../../src/integration/webhook/schema.ts'
import type { BizEvent as BizEventSchema } from '../../../src/ledger/biz-event/schema.ts'
import type { BizTransaction as BizTransactionSchema } from '../../../src/ledger/biz-transaction/schema.ts'
import type { HoldingMonth as HoldingMonthSchema } from '../../../src/ledger/holding/months.ts'
import type { Holding as HoldingSchema } from '../../../src/ledger/holding/schema.ts'
import type {
  Distribution as DistributionSchema,
  EntitledAccount as EntitledAccountSchema,
} from '../../../src/money/distribution/schema.ts'
import type {
  PaymentRun as PaymentRunSchema,
  Payment as PaymentSchema,
} from '../../../src/money/payment-run/schema.ts'
import type { WithholdingRate as WithholdingRateSchema } from '../../../src/money/withholding-rate/schema.ts'
import type { Account as AccountSchema } from '../../../src/parties/account/schema.ts'
import type { Address as AddressSchema } from '../../../src/parties/address/schema.ts'
import type { BizEntityParty as BizEntityPartySchema } from '../../../src/parties/biz-entity/party-schema.ts'
import type { BizEntity as BizEntitySchema } from '../../../src/parties/biz-entity/schema.ts'
import type { Communication as CommunicationSchema } from '../../../src/parties/communication/schema.ts'
import type { PaymentDetail as PaymentDetailSchema } from '../../../src/parties/payment-detail/schema.ts'
import type { TaxStanding as TaxStandingSchema } from '../../../src/parties/tax-standing/schema.ts'
import type { Shown } from '../../../src/platform/shape/fields.ts'
import type {
  Document as DocumentSchema,
  ListedDocument as ListedDocumentSchema,
} from '../../../src/records/document/schema.ts'
import type { Hold as HoldSchema } from '../../../src/records/hold/schema.ts'
import type {
  Report as ReportSchema,
  Delivery as StatementDeliverySchema,
} from '../../../src/records/report/schema.ts'
import type { SearchResult as SearchResultSchema } from '../../../src/records/search/schema.ts'

/**
 * The types of records, taken from the service's schemas: a field renamed there fails to compile
 * here.
 */
export type Account = Shown<typeof AccountSchema>
export type Address = Shown<typeof AddressSchema>
export type AffectedTransaction = Shown<typeof AffectedTransactionSchema>
export type ApiKey = Shown<typeof ApiKeySchema>
export type Approval = Shown<typeof ApprovalSchema>
export type ApprovalRule = Shown<typeof ApprovalRuleSchema>
export type Audit = Shown<typeof AuditSchema>
export type BizEntity = Shown<typeof BizEntitySchema>
export type BizEntityParty = Shown<typeof BizEntityPartySchema>
export type BizEvent = Shown<typeof BizEventSchema>
export type BizTransaction = Shown<typeof BizTransactionSchema>
export type Communication = Shown<typeof CommunicationSchema>
export type Distribution = Shown<typeof DistributionSchema>
export type Document = Shown<typeof DocumentSchema>
export type EntitledAccount = Shown<typeof EntitledAccountSchema>
export type Hold = Shown<typeof HoldSchema>
export type HoldingMonth = Shown<typeof HoldingMonthSchema>
export type Holding = Shown<typeof HoldingSchema>
export type Import = Shown<typeof ImportSchema>
export type Investment = Shown<typeof InvestmentSchema>
export type InvestmentPrice = Shown<typeof InvestmentPriceSchema>
export type ListedDocument = Shown<typeof ListedDocumentSchema>
export type Me = Shown<typeof MeSchema>
export type NewApiKey = Shown<typeof NewApiKeySchema>
export type Payment = Shown<typeof PaymentSchema>
export type PaymentDetail = Shown<typeof PaymentDetailSchema>
export type PaymentRun = Shown<typeof PaymentRunSchema>
export type Product = Shown<typeof ProductSchema>
export type Report = Shown<typeof ReportSchema>
export type SearchResult = Shown<typeof SearchResultSchema>
export type Session = Shown<typeof SessionSchema>
export type StatementDelivery = Shown<typeof StatementDeliverySchema>
export type TaxStanding = Shown<typeof TaxStandingSchema>
export type User = Shown<typeof UserSchema>
export type Webhook = Shown<typeof WebhookSchema>
export type WebhookDelivery = Shown<typeof DeliverySchema>
export type WebhookWithSecret = Shown<typeof WebhookWithSecretSchema>
export type WithholdingRate = Shown<typeof WithholdingRateSchema>
