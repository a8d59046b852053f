import { arrayOf, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { declareDistribution } from './declare.ts'
import { DistributionException, ExceptionQuery, readExceptions } from './exceptions.ts'
import { payDistribution } from './pay.ts'
import { DistributionPreview, previewDistribution } from './preview.ts'
import { reinvest } from './reinvest.ts'
import { payResiduals } from './residual.ts'
import { reverseDistribution } from './reverse.ts'
import { createDistribution, deleteDistribution, updateDistribution } from './save.ts'
import {
  Declaration,
  Distribution,
  DistributionInput,
  DistributionKey,
  DistributionQuery,
  DistributionUpdate,
  DrpAllotment,
  distributionParameter,
  EntitledAccount,
  EntitledQuery,
  Payment,
  PreviewRequest,
  ResidualPayment,
  ResidualPayout,
  Reversal,
  StageUnderWay,
} from './schema.ts'
import { readDistributions, readEntitled } from './sql.ts'

const change = { access: 'Distribution.Write', resource: 'Distribution' } as const

/** A stage of up to `inline` accounts is done in the request; with more accounts it is a job. */
export const distributionEndpoints = (inline: number) => [
  ...configuring,
  ...stages(inline),
  ...overseeing,
]

const configuring = [
  reading({
    operation: 'GET /Distribution',
    access: 'Distribution.Read',
    summary: 'List the distributions of a product.',
    query: DistributionQuery,
    data: arrayOf(Distribution),
    etag: { by: distributionParameter.fields },
    read: ({ query, actor }, handle) => readDistributions(handle, actor, query),
  }),
  writing({
    operation: 'POST /Distribution',
    event: 'distribution.configured',
    summary: 'Create a distribution.',
    ...change,
    body: DistributionInput,
    data: Distribution,
    write: ({ body, actor }, tx) => createDistribution(tx, actor, body),
  }),
  writing({
    operation: 'PUT /Distribution',
    summary: 'Replace a distribution that is not declared yet.',
    ...change,
    body: DistributionUpdate,
    data: arrayOf(Distribution),
    write: ({ body, actor }, tx) => updateDistribution(tx, actor, body),
  }),
  writing({
    operation: 'DELETE /Distribution',
    summary: 'Delete a distribution that is not declared yet.',
    ...change,
    query: DistributionKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteDistribution(tx, actor, query),
  }),
  reading({
    operation: 'POST /Distribution/Preview',
    name: 'previewDistribution',
    access: 'Distribution.Read',
    summary: 'Preview what Declare would do with the same body. Nothing is written.',
    body: PreviewRequest,
    data: DistributionPreview,
    read: ({ body, actor }, handle) => previewDistribution(handle, actor, body),
  }),
]

const stages = (inline: number) => [
  writing({
    operation: 'POST /Distribution/Declare',
    name: 'declareDistribution',
    event: 'distribution.declared',
    summary: 'Declare a distribution: lock in the entitlement of each account.',
    ...change,
    body: Declaration,
    data: arrayOf(Distribution),
    accepted: StageUnderWay,
    write: ({ body, actor }, tx) => declareDistribution(tx, actor, body, inline),
  }),
  writing({
    operation: 'POST /Distribution/Payment',
    name: 'payDistribution',
    event: 'distribution.paid',
    summary: 'Pay the cash part of a declared distribution.',
    ...change,
    body: Payment,
    data: arrayOf(Distribution),
    accepted: StageUnderWay,
    write: ({ body, actor }, tx) => payDistribution(tx, actor, body, inline),
  }),
  writing({
    operation: 'POST /Distribution/DrpAllotment',
    name: 'reinvestDistribution',
    event: 'distribution.completed',
    summary: 'Allot units for the reinvested part of a paid distribution.',
    ...change,
    body: DrpAllotment,
    data: arrayOf(Distribution),
    accepted: StageUnderWay,
    write: ({ body, actor }, tx) => reinvest(tx, actor, body, inline),
  }),
  writing({
    operation: 'POST /Distribution/Reverse',
    event: 'distribution.reversed',
    summary: 'Reverse the last stage, or cancel the one that is under way.',
    ...change,
    body: Reversal,
    data: arrayOf(Distribution),
    accepted: StageUnderWay,
    write: ({ body, actor }, tx) => reverseDistribution(tx, actor, body, inline),
  }),
]

const overseeing = [
  writing({
    operation: 'POST /Distribution/PayResiduals',
    event: null,
    summary:
      'Pay out the residuals of accounts that have left the distribution reinvestment plan (DRP).',
    ...change,
    body: ResidualPayout,
    data: arrayOf(ResidualPayment),
    write: ({ body, actor }, tx) => payResiduals(tx, actor, body),
  }),
  reading({
    operation: 'GET /Distribution/Exceptions',
    access: 'Distribution.Read',
    summary:
      'List entitlements that no longer match the register because of back-dated changes, with ' +
      'both figures.',
    query: ExceptionQuery,
    data: arrayOf(DistributionException),
    read: ({ query, actor }, handle) => readExceptions(handle, actor, query),
  }),
  reading({
    operation: 'GET /Distribution/Account',
    access: 'Distribution.Read',
    summary: 'List what each account receives from a distribution.',
    query: EntitledQuery,
    data: arrayOf(EntitledAccount),
    read: ({ query, actor }, handle) => readEntitled(handle, actor, query),
  }),
]
